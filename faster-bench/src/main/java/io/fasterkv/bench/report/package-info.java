/** What a run shows: progress, tables, files. */
@NullMarked
package io.fasterkv.bench.report;

import org.jspecify.annotations.NullMarked;
