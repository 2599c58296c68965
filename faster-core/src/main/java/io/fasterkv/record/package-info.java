/** The shape of one record. */
@NullMarked
package io.fasterkv.record;

import org.jspecify.annotations.NullMarked;
