/**
 * API for integrators: versions of a store outside its directory, stores that are restored from
 * there, and logs with keys of other stores.
 */
@NullMarked
package io.fasterkv.spi;

import org.jspecify.annotations.NullMarked;
