/** {@code ./bench nexmark}: the queries of Nexmark on several state backends. */
@NullMarked
package io.fasterkv.bench.nexmark;

import org.jspecify.annotations.NullMarked;
