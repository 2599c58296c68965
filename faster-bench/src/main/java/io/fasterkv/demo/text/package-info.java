/** Real text as a list of words that can be read again from any position. */
@NullMarked
package io.fasterkv.demo.text;

import org.jspecify.annotations.NullMarked;
