/** What the documentation promises: links that lead somewhere, and examples that compile. */
@NullMarked
package io.fasterkv.docs;

import org.jspecify.annotations.NullMarked;
