/** Timer queues, on the heap for now. */
@NullMarked
package io.fasterkv.flink.timers;

import org.jspecify.annotations.NullMarked;
