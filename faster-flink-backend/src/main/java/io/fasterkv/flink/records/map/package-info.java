/** Maps of user keys and values: in one record, in buckets, or, for large entries, in runs. */
@NullMarked
package io.fasterkv.flink.records.map;

import org.jspecify.annotations.NullMarked;
