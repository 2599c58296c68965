/** The soak: a backend at a steady pace for a long time, and whether anything creeps. */
@NullMarked
package io.fasterkv.bench.soak;

import org.jspecify.annotations.NullMarked;
