/**
 * Runs a session's operations to their end: attempts them, retries, waits for the disk, and reports
 * results and failures to the caller.
 */
@NullMarked
package io.fasterkv.operation.session;

import org.jspecify.annotations.NullMarked;
