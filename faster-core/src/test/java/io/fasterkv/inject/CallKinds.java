package io.fasterkv.inject;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.LongMerge;
import io.fasterkv.api.MergeableFunctions;
import io.fasterkv.api.MergeableLongFunctions;
import io.fasterkv.api.SpanMerge;
import io.fasterkv.api.StoreFunctions;
import io.fasterkv.api.checkpoint.CommitListener;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.KeyHash;
import io.fasterkv.device.LogDevice;
import io.fasterkv.inject.Point.Kind;
import io.fasterkv.spi.KeyFilter;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Decides which calls are points by the type of the callee, so that no list of call sites is
 * needed.
 */
final class CallKinds {
  private static final Set<String> CALLBACKS =
      Stream.concat(
              Stream.of(
                  LogDevice.Completion.class,
                  Runnable.class,
                  Callable.class,
                  Consumer.class,
                  LongConsumer.class,
                  BiConsumer.class,
                  Supplier.class),
              Stream.of(hidden("io.fasterkv.operation.session.Arrivals")))
          .map(CallKinds::inClassFiles)
          .collect(Collectors.toUnmodifiableSet());

  private static final Set<String> FUNCTIONS =
      Stream.of(
              CommitListener.class,
              KeepRule.class,
              KeyFilter.class,
              KeyHash.class,
              LongFunctions.class,
              LongMerge.class,
              MergeableFunctions.class,
              MergeableLongFunctions.class,
              SpanMerge.class,
              StoreFunctions.class)
          .map(CallKinds::inClassFiles)
          .collect(Collectors.toUnmodifiableSet());

  private static final Set<String> STARTS =
      Set.of(
          "start",
          "startVirtualThread",
          "unstarted",
          "execute",
          "submit",
          "supplyAsync",
          "runAsync",
          "newThread");

  /**
   * Functions whose changes in place remain if they throw; that is the responsibility of the user.
   */
  private static final Set<String> IN_PLACE = Set.of("inPlaceUpdater", "concurrentWriter");

  private final Map<String, Boolean> devices = new ConcurrentHashMap<>();

  /** A type that is not accessible here, by its name; fails if the type was moved. */
  private static Class<?> hidden(String name) {
    try {
      return Class.forName(name);
    } catch (ClassNotFoundException e) {
      throw new LinkageError("a type of callbacks has moved: " + name, e);
    }
  }

  private static String inClassFiles(Class<?> type) {
    return type.getName().replace('.', '/');
  }

  /** The kind of a call; null if it is not a point. */
  @org.jspecify.annotations.Nullable
  Kind kind(String owner, String method) {
    if (method.equals("<init>")) {
      return null;
    }
    if (CALLBACKS.contains(owner)) {
      return Kind.CALLBACK;
    }
    if (FUNCTIONS.contains(owner)) {
      return Kind.FUNCTION;
    }
    boolean isThreads = owner.startsWith("java/lang/Thread") || owner.contains("/concurrent/");
    if (isThreads && STARTS.contains(method)) {
      return Kind.START;
    }
    return isDevice(owner) ? Kind.DEVICE : null;
  }

  /**
   * Whether a call may throw before it has any effect. The caller of {@code close} is not
   * responsible for resources that a failed close leaves open.
   */
  boolean isPointBefore(String method) {
    return !method.equals("close");
  }

  /**
   * Whether there is a point after the call, too. A call that transfers work throws only if it has
   * not transferred the work; otherwise nothing could tell whether the work will be done.
   */
  boolean isPointAfter(Kind kind, String method, String descriptor) {
    boolean isHandover =
        kind == Kind.START
            || descriptor.contains("LogDevice$Completion")
            || descriptor.equals("(IJLjava/lang/foreign/MemorySegment;)V")
            || method.equals("next");
    return !isHandover && !IN_PLACE.contains(method);
  }

  private boolean isDevice(String owner) {
    return owner.startsWith("java/nio/channels/")
        || owner.equals("java/nio/file/Files")
        || (owner.startsWith("io/fasterkv/device/")
            && devices.computeIfAbsent(owner, CallKinds::implementsDevice));
  }

  private static boolean implementsDevice(String owner) {
    try {
      Class<?> type =
          Class.forName(owner.replace('/', '.'), false, CallKinds.class.getClassLoader());
      return io.fasterkv.device.LogDevice.class.isAssignableFrom(type)
          || io.fasterkv.device.ReadQueue.class.isAssignableFrom(type);
    } catch (ClassNotFoundException e) {
      throw new LinkageError(owner, e);
    }
  }
}
