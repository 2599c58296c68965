package io.fasterkv.flink.backend;

import java.text.MessageFormat;
import java.util.Locale;
import java.util.MissingResourceException;
import java.util.ResourceBundle;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;
import org.apache.flink.runtime.state.StateBackend.KeyedStateBackendParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logger of one subtask of an operator, for its backend and its store. It writes to the SLF4J
 * logger {@value #NAME}, as Flink does, and begins each line with the operator and the subtask:
 *
 * <pre>
 *   counts (2/4): opened a state store: memoryBytes=33554432, directory=/tmp/faster-...
 * </pre>
 *
 * <p>Safe for all threads.
 */
final class OperatorLog implements System.Logger {
  static final String NAME = "io.fasterkv.flink";
  private static final Logger LOG = LoggerFactory.getLogger(NAME);

  private final String prefix;

  private OperatorLog(String prefix) {
    this.prefix = prefix;
  }

  /** Names the operator as metrics and the web UI do. */
  static OperatorLog of(KeyedStateBackendParameters<?> parameters) {
    TaskInfo task = parameters.getEnv().getTaskInfo();
    String operator =
        parameters
            .getMetricGroup()
            .getAllVariables()
            .getOrDefault(ScopeFormat.SCOPE_OPERATOR_NAME, parameters.getOperatorIdentifier());
    return of(operator, task.getIndexOfThisSubtask(), task.getNumberOfParallelSubtasks());
  }

  /**
   * @param subtask from 0
   */
  static OperatorLog of(String operator, int subtask, int parallelism) {
    return new OperatorLog(operator + " (" + (subtask + 1) + "/" + parallelism + "): ");
  }

  @Override
  public String getName() {
    return NAME;
  }

  @Override
  public boolean isLoggable(Level level) {
    return switch (level) {
      case ALL, TRACE -> LOG.isTraceEnabled();
      case DEBUG -> LOG.isDebugEnabled();
      case INFO -> LOG.isInfoEnabled();
      case WARNING -> LOG.isWarnEnabled();
      case ERROR -> LOG.isErrorEnabled();
      case OFF -> false;
    };
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String message,
      @Nullable Throwable thrown) {
    if (isLoggable(level)) {
      write(level, translated(bundle, message), thrown);
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object @Nullable ... parameters) {
    if (isLoggable(level)) {
      write(level, formatted(translated(bundle, format), parameters), null);
    }
  }

  private void write(Level level, @Nullable String message, @Nullable Throwable thrown) {
    String line = prefix + message;
    switch (level) {
      case ALL, TRACE -> LOG.trace(line, thrown);
      case DEBUG -> LOG.debug(line, thrown);
      case INFO -> LOG.info(line, thrown);
      case WARNING -> LOG.warn(line, thrown);
      case ERROR -> LOG.error(line, thrown);
      case OFF -> {}
    }
  }

  /** The text of a bundle under a key; the key itself if the bundle does not contain it. */
  private static @Nullable String translated(
      @Nullable ResourceBundle bundle, @Nullable String key) {
    if (bundle == null || key == null) {
      return key;
    }
    try {
      return bundle.getString(key);
    } catch (MissingResourceException | ClassCastException e) {
      return key;
    }
  }

  /** The text formatted by {@link MessageFormat}; the format itself if it is not valid. */
  private static @Nullable String formatted(
      @Nullable String format, @Nullable Object @Nullable [] parameters) {
    if (format == null || parameters == null || parameters.length == 0) {
      return format;
    }
    try {
      return new MessageFormat(format, Locale.ROOT).format(parameters);
    } catch (IllegalArgumentException e) {
      return format;
    }
  }
}
