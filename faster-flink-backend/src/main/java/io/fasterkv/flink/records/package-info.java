/**
 * What compaction may drop of the values, lists, maps and timers of a backend. The rooms inside
 * keep these in the records of a store. They know bytes and no serializers.
 */
@NullMarked
package io.fasterkv.flink.records;

import org.jspecify.annotations.NullMarked;
