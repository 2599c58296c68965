/** Joins index and log: one class an operation. */
@NullMarked
package io.fasterkv.operation;

import org.jspecify.annotations.NullMarked;
