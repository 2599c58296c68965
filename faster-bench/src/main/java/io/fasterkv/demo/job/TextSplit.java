package io.fasterkv.demo.job;

import io.fasterkv.demo.text.TextRange;
import org.apache.flink.api.connector.source.SourceSplit;

/**
 * A range of the input and how far it has been read.
 *
 * @param range the words
 * @param read how many of them have been read, 0 to {@code range.words()}
 */
public record TextSplit(TextRange range, int read) implements SourceSplit {
  @Override
  public String splitId() {
    return Integer.toString(range.ordinal());
  }
}
