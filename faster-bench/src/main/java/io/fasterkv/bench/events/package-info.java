/** The events of Nexmark: an auction site's persons, auctions and bids. */
@NullMarked
package io.fasterkv.bench.events;

import org.jspecify.annotations.NullMarked;
