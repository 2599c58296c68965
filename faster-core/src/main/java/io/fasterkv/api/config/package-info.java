/** The settings of a store, and the functions that are part of them. */
@NullMarked
package io.fasterkv.api.config;

import org.jspecify.annotations.NullMarked;
