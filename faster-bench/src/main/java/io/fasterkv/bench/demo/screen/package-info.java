/** What the terminal shows: progress, checkpoints, sizes. */
@NullMarked
package io.fasterkv.bench.demo.screen;

import org.jspecify.annotations.NullMarked;
