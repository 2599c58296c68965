/** Grows and shrinks the index, and reads the chains that are divided or joined by that. */
@NullMarked
package io.fasterkv.operation.resize;

import org.jspecify.annotations.NullMarked;
