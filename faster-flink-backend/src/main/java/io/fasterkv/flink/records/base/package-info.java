/**
 * Reads and writes single records of the store, and values of several records: a head and its
 * parts, which have one incarnation.
 */
@NullMarked
package io.fasterkv.flink.records.base;

import org.jspecify.annotations.NullMarked;
