package io.fasterkv.flink.config;

import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/**
 * The options of the state backend. All have defaults. Stores take their memory from the slot's
 * managed memory and share it automatically.
 */
public final class FasterOptions {

  /** Where a running task keeps its stores' log files and the sort files of snapshots. */
  public static final ConfigOption<List<String>> LOCAL_DIRECTORIES =
      ConfigOptions.key("state.backend.faster.local-dir")
          .stringType()
          .asList()
          .noDefaultValue()
          .withDescription(
              "Absolute local directories for the log files of running tasks, used in turn."
                  + " The default is the TaskManager's temporary directories.");

  /** A fixed size for each operator's store instead of a lease from managed memory. */
  public static final ConfigOption<MemorySize> FIXED_MEMORY =
      ConfigOptions.key("state.backend.faster.memory.fixed-per-operator")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Off-heap memory of each operator's store, at least 1 mb. If this is set, stores"
                  + " do not use managed memory, and you must count the memory as task"
                  + " off-heap memory.");

  /** The off-heap memory that all stores of a slot share. */
  public static final ConfigOption<MemorySize> FIXED_SLOT_MEMORY =
      ConfigOptions.key("state.backend.faster.memory.fixed-per-slot")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Off-heap memory that all stores of a slot share, at least 1 mb. If this is set,"
                  + " stores do not use managed memory, and you must count the memory of all slots"
                  + " as task off-heap memory. Set this or fixed-per-operator, not both.");

  /** The expected number of operators with state in a slot. */
  public static final ConfigOption<Integer> OPERATORS =
      ConfigOptions.key("state.backend.faster.memory.operators-per-slot")
          .intType()
          .defaultValue(32)
          .withDescription(
              "Only without native access, where logs cannot release memory: number of equal parts"
                  + " of the slot's memory, 1 to 1000. Each store leases one. Set it to the number"
                  + " of operators with state.");

  /** The minimum memory of a new store. */
  public static final ConfigOption<MemorySize> MINIMUM_MEMORY =
      ConfigOptions.key("state.backend.faster.memory.minimum-per-operator")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(1))
          .withDescription("A store that cannot lease this much does not start. At least 1 mb.");

  /** The part of the log in memory that is updated in place. */
  public static final ConfigOption<Double> MUTABLE_FRACTION =
      ConfigOptions.key("state.backend.faster.log.mutable-fraction")
          .doubleType()
          .defaultValue(0.9)
          .withDescription("Part of the log in memory that is updated in place, 0 to 1.");

  /** Whether short reads from disk use mapped files. */
  public static final ConfigOption<Boolean> MAPPED_READS =
      ConfigOptions.key("state.backend.faster.log.mapped-reads")
          .booleanType()
          .noDefaultValue()
          .withDescription(
              "Whether short reads use mapped files, which is several times as fast for data"
                  + " in the page cache. Mapped pages count as resident memory, and a disk"
                  + " that hangs delays the JVM's safepoints. The default is true, except in"
                  + " a YARN container.");

  /** Heap that a snapshot or a listing of keys may use to sort. */
  public static final ConfigOption<MemorySize> SORT_BUFFER =
      ConfigOptions.key("state.backend.faster.snapshot.sort-buffer")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(16))
          .withDescription(
              "Heap memory in which one snapshot, or one listing of keys, sorts records by key"
                  + " group. Records that do not fit are sorted in local files.");

  /** Number of files of a checkpoint that are written at a time. */
  public static final ConfigOption<Integer> UPLOAD_STREAMS =
      ConfigOptions.key("state.backend.faster.snapshot.streams")
          .intType()
          .defaultValue(4)
          .withDescription(
              "How many files of one incremental checkpoint are written at a time, each over"
                  + " its own stream, 1 to 256. A file contains at most 128 mb of log. Each"
                  + " stream has a buffer of 32 kb on the heap.");

  /** Where timers are stored. */
  public static final ConfigOption<TimerPlace> TIMERS =
      ConfigOptions.key("state.backend.faster.timers")
          .enumType(TimerPlace.class)
          .defaultValue(TimerPlace.STORE)
          .withDescription(
              "Where timers are stored: in the store, where memory does not limit their"
                  + " number, or on the heap, which is faster for jobs with few timers.");

  /** Number of streams that read a checkpoint's log. */
  public static final ConfigOption<Integer> RESTORE_STREAMS =
      ConfigOptions.key("state.backend.faster.restore.streams")
          .intType()
          .defaultValue(16)
          .withDescription(
              "How many streams read an incremental checkpoint at a time while a store is"
                  + " restored and its log is copied in the background, 1 to 256. Each stream"
                  + " needs a buffer in the store's memory, so stores with less than 128 mb use"
                  + " fewer, and another 64 kb on the heap.");

  private FasterOptions() {}
}
