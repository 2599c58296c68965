package io.fasterkv.bench.checkpoints;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.checkpoint.CheckpointInfo;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Converts the contents of a checkpoint to text that fits a line. */
final class Texts {
  private Texts() {}

  /** The checkpoint that a checkpoint's index image comes from. */
  static String image(CheckpointInfo info) {
    long of = info.index().imageOf();
    return of == 0 ? "none" : of == info.token().number() ? "own" : "of " + of;
  }

  /**
   * Up to {@code most} bytes: quoted if they are UTF-8 without control characters, otherwise in
   * hexadecimal; followed by the total number if that was not all.
   */
  static String of(ByteSpan span, int most, boolean isHex) {
    byte[] bytes = new byte[Math.min(most, span.length())];
    span.copyTo(0, bytes, 0, bytes.length);
    String rest = bytes.length < span.length() ? "... of " + span.length() + " bytes" : "";
    return (isHex ? hex(bytes) : textOrHex(bytes)) + rest;
  }

  private static String textOrHex(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return isPrintable(text)
          ? '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"'
          : hex(bytes);
    } catch (CharacterCodingException e) {
      return hex(bytes);
    }
  }

  private static String hex(byte[] bytes) {
    return "0x" + HexFormat.of().formatHex(bytes);
  }

  /**
   * Applications choose names, so control characters are replaced: none may move a terminal's
   * cursor.
   */
  static String line(String text) {
    return isPrintable(text) ? text : hex(text.getBytes(StandardCharsets.UTF_8));
  }

  private static boolean isPrintable(String text) {
    return text.codePoints().allMatch(Texts::isPrintable);
  }

  private static boolean isPrintable(int codePoint) {
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}
