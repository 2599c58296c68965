/** What the documentation promises: links that lead somewhere, and examples that compile. */
package io.fasterkv.docs;
