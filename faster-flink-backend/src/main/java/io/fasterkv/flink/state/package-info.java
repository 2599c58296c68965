/**
 * One class for each type of Flink state. Knows serializers and the current key, but not the
 * backend.
 */
@NullMarked
package io.fasterkv.flink.state;

import org.jspecify.annotations.NullMarked;
