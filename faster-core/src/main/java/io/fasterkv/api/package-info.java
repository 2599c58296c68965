/** Words shared with the caller. Imports no other room. */
@NullMarked
package io.fasterkv.api;

import org.jspecify.annotations.NullMarked;
