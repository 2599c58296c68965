/** The state of a whole store: its phase and version, and its first failure. */
@NullMarked
package io.fasterkv.state;

import org.jspecify.annotations.NullMarked;
