package io.fasterkv.flink.backend;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.ListResourceBundle;
import org.apache.flink.testutils.logging.LoggerAuditingExtension;
import org.apache.logging.log4j.core.LogEvent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests which parts of a store's log line reach SLF4J. */
class OperatorLogTest {
  private static final String PREFIX = "counts (2/4): ";
  private static final List<Level> LEVELS =
      List.of(Level.TRACE, Level.DEBUG, Level.INFO, Level.WARNING, Level.ERROR);

  @RegisterExtension
  private final LoggerAuditingExtension trace =
      new LoggerAuditingExtension(OperatorLog.NAME, org.slf4j.event.Level.TRACE);

  private final System.Logger log = OperatorLog.of("counts", 1, 4);

  private static ListResourceBundle bundle() {
    return new ListResourceBundle() {
      @Override
      protected Object[][] getContents() {
        return new Object[][] {{"key", "the log of {0}"}, {"number", 1}};
      }
    };
  }

  private LogEvent last() {
    return new ArrayList<>(trace.getEvents()).getLast();
  }

  @Test
  void levelsAreThoseOfSlf4j() {
    List<String> levels = new ArrayList<>();
    for (Level level : LEVELS) {
      assertThat(log.isLoggable(level)).isTrue();
      log.log(level, "a line");
      levels.add(last().getLevel().name());
      assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "a line");
    }
    assertThat(levels).containsExactly("TRACE", "DEBUG", "INFO", "WARN", "ERROR");
    log.log(Level.OFF, "nothing");
    assertThat(log.isLoggable(Level.OFF)).isFalse();
    assertThat(trace.getEvents()).hasSize(LEVELS.size());
  }

  @Test
  void aThrowableKeepsItsStack() {
    IllegalStateException cause = new IllegalStateException("a test");
    log.log(Level.WARNING, "a line", cause);
    assertThat(last().getThrown()).isSameAs(cause);
    log.log(Level.DEBUG, () -> "made when needed", cause);
    assertThat(last().getThrown()).isSameAs(cause);
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "made when needed");
  }

  /** The name of a file or an operator may look like a format. */
  @Test
  void textIsNoFormat() {
    System.Logger odd = OperatorLog.of("it's {} {0}", 0, 1);
    odd.log(Level.INFO, "file={}/it's-{0}%s");
    assertThat(last().getMessage().getFormattedMessage())
        .isEqualTo("it's {} {0} (1/1): file={}/it's-{0}%s");
    odd.log(Level.INFO, "failed: {}", new IllegalStateException("{}"));
    assertThat(last().getMessage().getFormattedMessage())
        .isEqualTo("it's {} {0} (1/1): failed: {}");
  }

  @Test
  void parametersAreFormattedAsTheJdkDoesIt() {
    log.log(Level.INFO, "{1} before {0}", "b", "a");
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "a before b");
    log.log(Level.INFO, "{ {0}", "b");
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "{ {0}");
  }

  @Test
  void aBundleTranslatesTheKeysThatItHas() {
    log.log(Level.INFO, bundle(), "key", "a store");
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "the log of a store");
    log.log(Level.INFO, bundle(), "unknown", (Throwable) null);
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "unknown");
    log.log(Level.INFO, bundle(), "number", (Throwable) null);
    assertThat(last().getMessage().getFormattedMessage()).isEqualTo(PREFIX + "number");
  }
}
