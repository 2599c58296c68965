/** The keys of records in the store: key group, state, key, namespace, and a number below them. */
@NullMarked
package io.fasterkv.flink.key;

import org.jspecify.annotations.NullMarked;
