package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Word;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;

/** Fakes of Flink's side of a source. */
final class Fakes {
  private Fakes() {}

  /** Returns a context on which only the given method may be called. */
  static <T> T context(Class<T> type, String method, Call call) {
    Object proxy =
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, called, arguments) -> {
              if (!called.getName().equals(method)) {
                throw new UnsupportedOperationException(called.getName());
              }
              call.with(arguments == null ? new Object[0] : arguments);
              return null;
            });
    return type.cast(proxy);
  }

  /** The effect of a call of the method. */
  interface Call {
    void with(Object[] arguments);
  }

  /** Collects words and their times. */
  static final class Output implements ReaderOutput<Word> {
    final List<Word> words = new ArrayList<>();
    final List<Long> times = new ArrayList<>();

    @Override
    public void collect(Word word) {
      throw new UnsupportedOperationException("every word has a time");
    }

    @Override
    public void collect(Word word, long time) {
      words.add(word);
      times.add(time);
    }

    @Override
    public void emitWatermark(Watermark watermark) {}

    @Override
    public void markIdle() {}

    @Override
    public void markActive() {}

    @Override
    public SourceOutput<Word> createOutputForSplit(String splitId) {
      return this;
    }

    @Override
    public void releaseOutputForSplit(String splitId) {}
  }
}
