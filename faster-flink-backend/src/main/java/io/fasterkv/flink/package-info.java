/** The classes that a Flink configuration names: the state backend and its factory. */
@NullMarked
package io.fasterkv.flink;

import org.jspecify.annotations.NullMarked;
