package io.fasterkv.demo.example;

/**
 * How often a word occurs in one window.
 *
 * @param text the word
 * @param count how often, 1 or more
 */
public record WindowCount(String text, long count) {}
