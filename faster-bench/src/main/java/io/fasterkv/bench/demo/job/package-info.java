/**
 * The Flink job: a source that resumes, words with every kind of keyed state, a failure on purpose.
 */
@NullMarked
package io.fasterkv.bench.demo.job;

import org.jspecify.annotations.NullMarked;
