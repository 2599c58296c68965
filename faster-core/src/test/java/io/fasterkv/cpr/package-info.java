/**
 * Tests of concurrent prefix recovery: each session is recovered with one prefix of its operations.
 */
package io.fasterkv.cpr;
