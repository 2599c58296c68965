/** Reclaims the head of the log. */
@NullMarked
package io.fasterkv.compaction;

import org.jspecify.annotations.NullMarked;
