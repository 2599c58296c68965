/** Types that the store shares with its callers: bytes, functions, results and errors. */
@NullMarked
package io.fasterkv.api;

import org.jspecify.annotations.NullMarked;
