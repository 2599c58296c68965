/**
 * How single values, lists and maps lie in the records of a store. Knows bytes and no serializers.
 */
@NullMarked
package io.fasterkv.flink.records;

import org.jspecify.annotations.NullMarked;
