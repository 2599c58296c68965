package io.fasterkv.demo.text;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;

/** Reads the words of one range, from any of them on. Not safe for use by several threads. */
public final class RangeWords implements Closeable {
  private final TextRange range;
  private final Tokenizer tokenizer;
  private int read;

  /**
   * @param read how many words of the range to skip, 0 to {@code range.words()}
   */
  public RangeWords(TextInput texts, TextRange range, int read) throws IOException {
    this.range = range;
    this.tokenizer = new Tokenizer(texts.open(range.file(), range.offset()), range.offset());
    while (this.read < read) {
      next();
    }
  }

  /** Says whether {@link #next()} has another word. */
  public boolean hasNext() {
    return read < range.words();
  }

  /** Returns the next word of the range. */
  public String next() throws IOException {
    String word = hasNext() ? tokenizer.next() : null;
    if (word == null) {
      throw new EOFException(
          "the input has changed since it was counted: file="
              + range.file()
              + ", words="
              + range.words()
              + ", found="
              + read);
    }
    read++;
    return word;
  }

  /** Returns how many words of the range have been read or skipped, 0 to {@code range.words()}. */
  public int read() {
    return read;
  }

  @Override
  public void close() throws IOException {
    tokenizer.close();
  }
}
