/** The hybrid log: address to bytes, and which region an address is in. */
@NullMarked
package io.fasterkv.log;

import org.jspecify.annotations.NullMarked;
