/** Owns off-heap memory: the only package that opens an arena or holds a handle to memory. */
@NullMarked
package io.fasterkv.memory;

import org.jspecify.annotations.NullMarked;
