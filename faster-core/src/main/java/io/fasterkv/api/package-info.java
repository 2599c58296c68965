/** Types that the store shares with its callers: configuration, callbacks, results and errors. */
@NullMarked
package io.fasterkv.api;

import org.jspecify.annotations.NullMarked;
