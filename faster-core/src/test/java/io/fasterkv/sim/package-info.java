/**
 * A disk that is simulated in memory behind {@code java.nio.file}: the store's own file code runs
 * on it unchanged, and a test can make any request fail, look at the store between two requests, or
 * cut the power and see what is left.
 */
package io.fasterkv.sim;
