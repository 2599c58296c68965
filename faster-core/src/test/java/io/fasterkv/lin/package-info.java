/**
 * Records histories of a few threads on a few keys, and checks whether a register could have
 * answered like that (Wing and Gong, 1993).
 */
package io.fasterkv.lin;
