package io.fasterkv.demo;

import java.nio.file.Path;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.slf4j.LoggerFactory;

/** Sends everything that Flink, the store and the JDK log to one file. */
final class LogFile {
  /** The file in the run's directory. */
  static final String NAME = "flink.log";

  private static final SimpleFormatter FORMATTER = new SimpleFormatter();

  private LogFile() {}

  /** Must be called before anything is logged. */
  static void use(Path file) {
    System.setProperty("io.fasterkv.demo.log", file.toString());
    System.setProperty("log4j2.configurationFile", "io/fasterkv/demo/log4j2.xml");
    Logger root = Logger.getLogger("");
    for (Handler handler : root.getHandlers()) {
      root.removeHandler(handler);
    }
    root.addHandler(new Forward());
  }

  /** Forwards records of the JDK's own logging. */
  private static final class Forward extends Handler {
    @Override
    public void publish(LogRecord record) {
      org.slf4j.Logger log = LoggerFactory.getLogger(String.valueOf(record.getLoggerName()));
      String message = FORMATTER.formatMessage(record);
      int level = record.getLevel().intValue();
      if (level >= Level.SEVERE.intValue()) {
        log.error(message, record.getThrown());
      } else if (level >= Level.WARNING.intValue()) {
        log.warn(message, record.getThrown());
      } else if (level >= Level.INFO.intValue()) {
        log.info(message, record.getThrown());
      } else {
        log.debug(message, record.getThrown());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
