package io.fasterkv.bench.demo.job;

/**
 * One place of a word.
 *
 * @param file where it stands
 * @param position its number in the file, in words, 0 or more
 */
public record Occurrence(String file, int position) {}
