/** The queries of Nexmark as Flink SQL, with their tables. */
@NullMarked
package io.fasterkv.bench.nexmark.sql;

import org.jspecify.annotations.NullMarked;
