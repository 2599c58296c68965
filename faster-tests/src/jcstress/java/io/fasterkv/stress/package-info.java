/**
 * Memory model tests of the real classes, each named after the outcome that must not be. The states
 * lend off-heap memory from pools, since jcstress makes millions of them.
 */
package io.fasterkv.stress;
