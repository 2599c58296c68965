/** The options, and the settings that they are resolved to once. */
@NullMarked
package io.fasterkv.flink.config;

import org.jspecify.annotations.NullMarked;
