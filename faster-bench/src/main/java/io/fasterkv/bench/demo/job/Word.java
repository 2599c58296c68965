package io.fasterkv.bench.demo.job;

/**
 * One word of the input; its time in Flink is its number in the plan, one millisecond a word.
 *
 * @param text the word in lower case
 * @param file where it stands
 * @param position its number in the file, in words, 0 or more
 */
public record Word(String text, String file, int position) {}
