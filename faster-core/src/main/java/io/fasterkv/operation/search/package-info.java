/** Finds a key's records: along its chain in memory, on disk, and all versions of it. */
@NullMarked
package io.fasterkv.operation.search;

import org.jspecify.annotations.NullMarked;
