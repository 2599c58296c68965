/** How a session is opened and named. */
@NullMarked
package io.fasterkv.api.session;

import org.jspecify.annotations.NullMarked;
