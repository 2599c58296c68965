/**
 * Merges deltas: walks them, appends them, and replaces a chain of them by one record. The records
 * that sessions and compaction copy to the tail are published here, too.
 */
@NullMarked
package io.fasterkv.operation.delta;

import org.jspecify.annotations.NullMarked;
