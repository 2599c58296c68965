/** The FASTER key-value store: stores, sessions, scans, exports and imports. */
@NullMarked
package io.fasterkv;

import org.jspecify.annotations.NullMarked;
