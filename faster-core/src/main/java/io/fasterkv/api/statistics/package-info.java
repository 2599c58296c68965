/** What a store reports about itself. */
@NullMarked
package io.fasterkv.api.statistics;

import org.jspecify.annotations.NullMarked;
