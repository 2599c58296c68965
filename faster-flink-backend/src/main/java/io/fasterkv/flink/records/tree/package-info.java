/** Timers as trees of records: B+ trees of blocks of up to 1 KiB. */
@NullMarked
package io.fasterkv.flink.records.tree;

import org.jspecify.annotations.NullMarked;
