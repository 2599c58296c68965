/**
 * Leases of the slot's managed memory, and what the JVM allows stores to do with it. The leases of
 * a slot never add up to more than it has.
 */
@NullMarked
package io.fasterkv.flink.memory;

import org.jspecify.annotations.NullMarked;
