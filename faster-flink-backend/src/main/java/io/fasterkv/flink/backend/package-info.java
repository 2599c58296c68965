/** The assembler: opens the store, restores it, and answers to Flink as a keyed state backend. */
@NullMarked
package io.fasterkv.flink.backend;

import org.jspecify.annotations.NullMarked;
