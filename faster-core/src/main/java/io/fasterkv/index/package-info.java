/** The hash index: maps a hash to the address of the newest record. It does not know keys. */
@NullMarked
package io.fasterkv.index;

import org.jspecify.annotations.NullMarked;
