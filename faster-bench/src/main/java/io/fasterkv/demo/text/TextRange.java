package io.fasterkv.demo.text;

import java.io.Serializable;

/**
 * Consecutive words of one file: the unit of work of a reader.
 *
 * @param ordinal place in the plan, 0 or more
 * @param file name in the {@link TextInput}
 * @param offset where the first word begins, in bytes from the start of the file
 * @param firstWord number of the first word in its file, 0 or more
 * @param words how many words, 1 or more
 * @param wordsBefore words in all earlier ranges of the plan, 0 or more
 */
public record TextRange(
    int ordinal, String file, long offset, int firstWord, int words, long wordsBefore)
    implements Serializable {}
