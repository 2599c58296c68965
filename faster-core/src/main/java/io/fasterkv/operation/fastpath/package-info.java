/**
 * Ends the simple operations at once: the newest record of the chain is in memory and has the key.
 * Everything else takes the slow path. Also prefetches what a group of operations needs.
 */
@NullMarked
package io.fasterkv.operation.fastpath;

import org.jspecify.annotations.NullMarked;
