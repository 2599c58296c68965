package io.fasterkv.demo.text;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Cuts UTF-8 text into words, in lower case.
 *
 * <p>A word is a letter followed by letters, digits, combining marks and underscores, {@value
 * #MAX_WORD_CHARS} characters at most; a longer run (an encoded blob) is skipped whole. Bytes that
 * are not UTF-8 separate words. Reading from {@link #wordOffset()} of some word gives that word and
 * all that follow it: what a word is does not depend on what came before.
 *
 * <p>Not safe for use by several threads.
 */
public final class Tokenizer implements Closeable {
  /** The longest word, in UTF-16 characters. */
  public static final int MAX_WORD_CHARS = 100;

  private static final int END = -1;
  private static final int NO_CHARACTER = 0xFFFD;

  private final InputStream in;
  private final byte[] buffer = new byte[1 << 14];
  private final StringBuilder word = new StringBuilder(MAX_WORD_CHARS);
  private int position;
  private int limit;
  private long bufferOffset;
  private long wordOffset;

  /**
   * @param in the text from {@code offset} on; closed with this tokenizer
   * @param offset position of {@code in} in its file, in bytes, 0 or more
   */
  public Tokenizer(InputStream in, long offset) {
    this.in = in;
    this.bufferOffset = offset;
    this.wordOffset = offset;
  }

  /** Returns the next word in lower case, or null at the end of the text. */
  public @Nullable String next() throws IOException {
    while (true) {
      int character;
      do {
        wordOffset = bufferOffset + position;
        character = nextCharacter();
        if (character == END) {
          return null;
        }
      } while (!startsWord(character));
      if (readWord(character)) {
        return word.toString().toLowerCase(Locale.ROOT);
      }
    }
  }

  /** Returns where the word returned last begins, in bytes from the start of the file. */
  public long wordOffset() {
    return wordOffset;
  }

  @Override
  public void close() throws IOException {
    in.close();
  }

  private boolean readWord(int first) throws IOException {
    word.setLength(0);
    int character = first;
    boolean fits = true;
    do {
      fits = fits && word.length() + Character.charCount(character) <= MAX_WORD_CHARS;
      if (fits) {
        word.appendCodePoint(character);
      }
      character = nextCharacter();
    } while (character != END && continuesWord(character));
    return fits;
  }

  private static boolean startsWord(int c) {
    return c < 0x80 ? (c | 0x20) >= 'a' && (c | 0x20) <= 'z' : Character.isLetter(c);
  }

  private static boolean continuesWord(int c) {
    if (c < 0x80) {
      return startsWord(c) || (c >= '0' && c <= '9') || c == '_';
    }
    int type = Character.getType(c);
    return Character.isLetterOrDigit(c)
        || type == Character.NON_SPACING_MARK
        || type == Character.COMBINING_SPACING_MARK;
  }

  /** Decodes one character; a malformed sequence ends before the first byte that breaks it. */
  private int nextCharacter() throws IOException {
    int first = peek();
    if (first == END) {
      return END;
    }
    position++;
    if (first < 0x80) {
      return first;
    }
    int following = first < 0xC0 ? -1 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : first < 0xF8 ? 3 : -1;
    if (following < 0) {
      return NO_CHARACTER;
    }
    int character = first & (0x3F >> following);
    for (int i = 0; i < following; i++) {
      int next = peek();
      if (next == END || (next & 0xC0) != 0x80) {
        return NO_CHARACTER;
      }
      position++;
      character = character << 6 | (next & 0x3F);
    }
    return character <= Character.MAX_CODE_POINT ? character : NO_CHARACTER;
  }

  private int peek() throws IOException {
    if (position == limit) {
      bufferOffset += limit;
      position = 0;
      limit = Math.max(0, in.read(buffer));
      if (limit == 0) {
        return END;
      }
    }
    return buffer[position] & 0xFF;
  }
}
