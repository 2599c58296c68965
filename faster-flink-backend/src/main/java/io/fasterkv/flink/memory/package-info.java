/**
 * Leases of a slot's memory, managed or fixed, which never add up to more than the slot has, and
 * the JVM's limits on its use.
 */
@NullMarked
package io.fasterkv.flink.memory;

import org.jspecify.annotations.NullMarked;
