/**
 * A disk simulated in memory behind {@code java.nio.file}: the store's own file code runs on it
 * unchanged, and a test can make any request fail, inspect the store between two requests, or
 * simulate a power failure.
 */
package io.fasterkv.sim;
