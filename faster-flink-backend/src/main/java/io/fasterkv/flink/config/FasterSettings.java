package io.fasterkv.flink.config;

import static io.fasterkv.flink.config.FasterOptions.FIXED_MEMORY;
import static io.fasterkv.flink.config.FasterOptions.FIXED_SLOT_MEMORY;
import static io.fasterkv.flink.config.FasterOptions.LOCAL_DIRECTORIES;
import static io.fasterkv.flink.config.FasterOptions.MAPPED_READS;
import static io.fasterkv.flink.config.FasterOptions.MINIMUM_MEMORY;
import static io.fasterkv.flink.config.FasterOptions.MUTABLE_FRACTION;
import static io.fasterkv.flink.config.FasterOptions.OPERATORS;
import static io.fasterkv.flink.config.FasterOptions.RESTORE_STREAMS;
import static io.fasterkv.flink.config.FasterOptions.SORT_BUFFER;
import static io.fasterkv.flink.config.FasterOptions.TIMERS;
import static io.fasterkv.flink.config.FasterOptions.UPLOAD_STREAMS;

import java.io.File;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.annotation.VisibleForTesting;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.jspecify.annotations.Nullable;

/**
 * The resolved options: read once, checked once, then frozen. Sizes are bytes.
 *
 * @param localDirectories absolute paths; empty means the TaskManager's temporary directories
 * @param fixedMemoryBytes memory of each store, or 0 to lease from the slot's memory
 * @param fixedSlotBytes memory of all stores of a slot, or 0 to use managed memory
 * @param operators without native access, the number of equal parts of a slot's memory
 * @param minimumMemoryBytes the least memory a store starts with
 * @param pageBytes size of a log page: {@link #PAGE_BYTES}, or less in tests
 * @param mutableFraction part of the log in memory that is updated in place
 * @param mappedReads whether the log's files are mapped to be read, or null to go by where the task
 *     runs
 * @param sortBufferBytes heap that one snapshot sorts with
 * @param uploadStreams how many files of one checkpoint are written at a time
 * @param timers where timers are stored
 * @param restoreStreams how many streams read a checkpoint at a time
 * @param incremental whether checkpoints are incremental, by Flink's own option
 */
public record FasterSettings(
    List<String> localDirectories,
    long fixedMemoryBytes,
    long fixedSlotBytes,
    int operators,
    long minimumMemoryBytes,
    int pageBytes,
    double mutableFraction,
    @Nullable Boolean mappedReads,
    int sortBufferBytes,
    int uploadStreams,
    TimerPlace timers,
    int restoreStreams,
    boolean incremental)
    implements Serializable {

  /**
   * Size of a log page, bytes. It limits the length of a record, so it is the same for every store,
   * and any store can use any checkpoint's log (docs/decisions/0053).
   */
  public static final int PAGE_BYTES = 64 << 10;

  /** Eight pages of log, six of scratch memory, and two of index. */
  private static final long LEAST_STORE_BYTES = 16L * PAGE_BYTES;

  private static final ConfigOption<String> TIMERS_AS_TEXT =
      ConfigOptions.key(TIMERS.key()).stringType().noDefaultValue();

  private static final long LEAST_SORT_BYTES = 64L << 10;
  private static final long MOST_SORT_BYTES = 1L << 30;
  private static final int MOST_STREAMS = 256;
  private static final int MOST_OPERATORS = 1000;

  /** The settings of an empty configuration. */
  public static FasterSettings defaults() {
    return from(new org.apache.flink.configuration.Configuration());
  }

  /**
   * Reads and checks the options.
   *
   * @throws IllegalConfigurationException naming the option, its value, what is allowed, and what
   *     to do
   */
  public static FasterSettings from(ReadableConfig config) {
    return new FasterSettings(
        directories(config),
        fixed(config, FIXED_MEMORY),
        fixedSlot(config),
        operators(config),
        bytes(config, MINIMUM_MEMORY, LEAST_STORE_BYTES, Long.MAX_VALUE),
        PAGE_BYTES,
        fraction(config),
        config.getOptional(MAPPED_READS).orElse(null),
        (int) bytes(config, SORT_BUFFER, LEAST_SORT_BYTES, MOST_SORT_BYTES),
        uploadStreams(config),
        timers(config),
        restoreStreams(config),
        config.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS));
  }

  /** The same settings with smaller pages, so that little state fills many. */
  @VisibleForTesting
  public FasterSettings withPages(int bytes) {
    return new FasterSettings(
        localDirectories,
        fixedMemoryBytes,
        fixedSlotBytes,
        operators,
        minimumMemoryBytes,
        bytes,
        mutableFraction,
        mappedReads,
        sortBufferBytes,
        uploadStreams,
        timers,
        restoreStreams,
        incremental);
  }

  private static List<String> directories(ReadableConfig config) {
    List<String> paths = config.getOptional(LOCAL_DIRECTORIES).orElse(List.of());
    for (String path : paths) {
      check(new File(path).isAbsolute(), LOCAL_DIRECTORIES, path, "absolute local paths");
    }
    return List.copyOf(paths);
  }

  private static long fixed(ReadableConfig config, ConfigOption<MemorySize> option) {
    return config.getOptional(option).isEmpty()
        ? 0
        : bytes(config, option, LEAST_STORE_BYTES, Long.MAX_VALUE);
  }

  private static long fixedSlot(ReadableConfig config) {
    long bytes = fixed(config, FIXED_SLOT_MEMORY);
    check(
        bytes == 0 || config.getOptional(FIXED_MEMORY).isEmpty(),
        FIXED_SLOT_MEMORY,
        new MemorySize(bytes),
        "none, since " + FIXED_MEMORY.key() + " is set");
    return bytes;
  }

  private static int operators(ReadableConfig config) {
    int operators = config.get(OPERATORS);
    check(
        operators >= 1 && operators <= MOST_OPERATORS,
        OPERATORS,
        operators,
        "1 to " + MOST_OPERATORS);
    return operators;
  }

  private static int uploadStreams(ReadableConfig config) {
    int streams = config.get(UPLOAD_STREAMS);
    check(streams >= 1 && streams <= MOST_STREAMS, UPLOAD_STREAMS, streams, "1 to " + MOST_STREAMS);
    return streams;
  }

  private static double fraction(ReadableConfig config) {
    double fraction = config.get(MUTABLE_FRACTION);
    check(fraction >= 0 && fraction <= 1, MUTABLE_FRACTION, fraction, "0 to 1");
    return fraction;
  }

  private static int restoreStreams(ReadableConfig config) {
    int streams = config.get(RESTORE_STREAMS);
    check(
        streams >= 1 && streams <= MOST_STREAMS, RESTORE_STREAMS, streams, "1 to " + MOST_STREAMS);
    return streams;
  }

  private static TimerPlace timers(ReadableConfig config) {
    try {
      return config.get(TIMERS);
    } catch (IllegalArgumentException unknown) {
      throw outOfRange(TIMERS, config.get(TIMERS_AS_TEXT), "store or heap");
    }
  }

  private static long bytes(
      ReadableConfig config, ConfigOption<MemorySize> option, long least, long most) {
    long bytes = config.get(option).getBytes();
    String allowed =
        most == Long.MAX_VALUE
            ? new MemorySize(least) + " and above"
            : new MemorySize(least) + " to " + new MemorySize(most);
    check(bytes >= least && bytes <= most, option, config.get(option), allowed);
    return bytes;
  }

  private static void check(boolean holds, ConfigOption<?> option, Object value, String allowed) {
    if (!holds) {
      throw outOfRange(option, value, allowed);
    }
  }

  private static IllegalConfigurationException outOfRange(
      ConfigOption<?> option, Object value, String allowed) {
    return new IllegalConfigurationException(
        "an option is out of range: "
            + option.key()
            + "="
            + value
            + ", allowed="
            + allowed
            + "; change or remove the option");
  }
}
