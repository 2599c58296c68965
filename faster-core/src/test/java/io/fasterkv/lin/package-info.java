/**
 * Histories of a few threads on a few keys, and the question whether a register could have answered
 * like that (Wing and Gong, 1993).
 */
package io.fasterkv.lin;
