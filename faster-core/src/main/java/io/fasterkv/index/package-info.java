/** Hash to newest address. Knows no keys. */
@NullMarked
package io.fasterkv.index;

import org.jspecify.annotations.NullMarked;
