/** The keys of records in the store: key group, state, key, namespace, and a sub number. */
@NullMarked
package io.fasterkv.flink.key;

import org.jspecify.annotations.NullMarked;
