/** The soak test: a backend at a steady rate for a long time, to detect slow growth. */
@NullMarked
package io.fasterkv.bench.soak;

import org.jspecify.annotations.NullMarked;
