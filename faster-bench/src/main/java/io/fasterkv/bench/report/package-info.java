/** The output of a run: progress, tables, files. */
@NullMarked
package io.fasterkv.bench.report;

import org.jspecify.annotations.NullMarked;
