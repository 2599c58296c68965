/** What a user names in a Flink configuration: the state backend and its factory. */
@NullMarked
package io.fasterkv.flink;

import org.jspecify.annotations.NullMarked;
