/** Maps of user keys and values: in one record, in buckets, or in runs of long keys. */
@NullMarked
package io.fasterkv.flink.records.map;

import org.jspecify.annotations.NullMarked;
