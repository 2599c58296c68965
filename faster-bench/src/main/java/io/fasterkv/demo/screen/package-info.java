/** The output on the terminal: progress, checkpoints, sizes. */
@NullMarked
package io.fasterkv.demo.screen;

import org.jspecify.annotations.NullMarked;
