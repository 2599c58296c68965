/** The layout of a record. */
@NullMarked
package io.fasterkv.record;

import org.jspecify.annotations.NullMarked;
