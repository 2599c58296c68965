/** Who owns off-heap bytes: the only room that opens an arena or holds a handle over memory. */
@NullMarked
package io.fasterkv.memory;

import org.jspecify.annotations.NullMarked;
