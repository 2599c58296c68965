/** Opens the store, restores it, and implements Flink's keyed state backend. */
@NullMarked
package io.fasterkv.flink.backend;

import org.jspecify.annotations.NullMarked;
