/** Makes, reads and replaces values that are larger than a page, in chunks, with no epoch held. */
@NullMarked
package io.fasterkv.operation.large;

import org.jspecify.annotations.NullMarked;
