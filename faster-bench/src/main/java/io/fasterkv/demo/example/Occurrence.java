package io.fasterkv.demo.example;

/**
 * One place of a word.
 *
 * @param file the file it is in
 * @param position its number in the file, in words, 0 or more
 */
public record Occurrence(String file, int position) {}
