/** What the experiments with checkpoints share: the plan, the store, the output and a timed run. */
@NullMarked
package io.fasterkv.bench.cpr.experiment;

import org.jspecify.annotations.NullMarked;
