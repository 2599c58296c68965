/**
 * What every operation works with: the engine that joins index and log, the operation in progress
 * with its buffers, the new record that it publishes, and the interface to the user's functions.
 */
@NullMarked
package io.fasterkv.operation.core;

import org.jspecify.annotations.NullMarked;
