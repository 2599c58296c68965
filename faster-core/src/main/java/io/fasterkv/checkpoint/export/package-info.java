/**
 * Takes a version of the store elsewhere and back: exports, imports, and the records and digests of
 * pieces of the log.
 */
@NullMarked
package io.fasterkv.checkpoint.export;

import org.jspecify.annotations.NullMarked;
