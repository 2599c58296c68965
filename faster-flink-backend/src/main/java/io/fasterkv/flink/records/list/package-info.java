/**
 * Lists of elements: in one record or in chunks, and the snapshot that a reader of a list holds.
 */
@NullMarked
package io.fasterkv.flink.records.list;

import org.jspecify.annotations.NullMarked;
