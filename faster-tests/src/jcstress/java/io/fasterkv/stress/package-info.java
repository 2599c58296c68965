/**
 * Memory model tests of the real classes, each named after its forbidden outcome. The states borrow
 * off-heap memory from pools, since jcstress creates millions of them.
 */
package io.fasterkv.stress;
