/**
 * The four operations, a class each: read, upsert, RMW and delete. The rooms inside join the index
 * and the log for them.
 */
@NullMarked
package io.fasterkv.operation;

import org.jspecify.annotations.NullMarked;
