/** Shows checkpoints from outside: what they contain, without a store. */
@NullMarked
package io.fasterkv.checkpoint.inspect;

import org.jspecify.annotations.NullMarked;
