/** The door: stores and sessions. It wires the rooms and holds no algorithm. */
@NullMarked
package io.fasterkv;

import org.jspecify.annotations.NullMarked;
