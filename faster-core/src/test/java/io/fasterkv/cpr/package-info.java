/** Concurrent prefix recovery: each session comes back with one prefix of what it did. */
package io.fasterkv.cpr;
