/**
 * Runs the example: a source that can be resumed, a failure on purpose, and what it all reports.
 */
@NullMarked
package io.fasterkv.demo.job;

import org.jspecify.annotations.NullMarked;
