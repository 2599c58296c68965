/** The options, and the settings to which they are resolved once. */
@NullMarked
package io.fasterkv.flink.config;

import org.jspecify.annotations.NullMarked;
