package io.fasterkv.demo.example;

/**
 * One word of the input; its time in Flink is its number in the plan, one millisecond a word.
 *
 * @param text the word in lower case
 * @param file the file it is in
 * @param position its number in the file, in words, 0 or more
 */
public record Word(String text, String file, int position) {}
