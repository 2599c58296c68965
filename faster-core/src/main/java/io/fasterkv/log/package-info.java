/** The hybrid log: maps an address to bytes and to a region. */
@NullMarked
package io.fasterkv.log;

import org.jspecify.annotations.NullMarked;
