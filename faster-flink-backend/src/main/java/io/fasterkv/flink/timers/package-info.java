/** Timer queues: in the store, or on the heap. */
@NullMarked
package io.fasterkv.flink.timers;

import org.jspecify.annotations.NullMarked;
