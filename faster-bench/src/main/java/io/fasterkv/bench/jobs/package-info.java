/** {@code ./bench jobs}: DataStream jobs on several state backends. */
@NullMarked
package io.fasterkv.bench.jobs;

import org.jspecify.annotations.NullMarked;
