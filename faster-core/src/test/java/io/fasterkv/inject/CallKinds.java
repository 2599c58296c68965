package io.fasterkv.inject;

import io.fasterkv.inject.Point.Kind;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Decides which calls are points by the type of the callee, so that no list of call sites is
 * needed.
 */
final class CallKinds {
  private static final Set<String> CALLBACKS =
      Set.of(
          "io/fasterkv/device/LogDevice$Completion",
          "io/fasterkv/operation/Arrivals",
          "java/lang/Runnable",
          "java/util/concurrent/Callable",
          "java/util/function/Consumer",
          "java/util/function/LongConsumer",
          "java/util/function/BiConsumer",
          "java/util/function/Supplier");

  private static final Set<String> FUNCTIONS =
      Set.of(
          "CommitListener",
          "KeepRule",
          "KeyFilter",
          "KeyHash",
          "LongFunctions",
          "LongMerge",
          "MergeableFunctions",
          "MergeableLongFunctions",
          "SpanMerge",
          "StoreFunctions");

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

  /** It reserves stack for the action that it calls, and allocates nothing before the call. */
  private static final String RESERVED = "DrainList.runNext";

  /** Their changes in place before they throw stay; that is the responsibility of the user. */
  private static final Set<String> IN_PLACE = Set.of("inPlaceUpdater", "concurrentWriter");

  private final Map<String, Boolean> devices = new ConcurrentHashMap<>();

  /** The kind of a call; null if it is no point. */
  @org.jspecify.annotations.Nullable
  Kind kind(String owner, String method) {
    if (method.equals("<init>")) {
      return null;
    }
    if (CALLBACKS.contains(owner)) {
      return Kind.CALLBACK;
    }
    if (owner.startsWith("io/fasterkv/api/") && FUNCTIONS.contains(owner.substring(16))) {
      return Kind.FUNCTION;
    }
    boolean isThreads = owner.startsWith("java/lang/Thread") || owner.contains("/concurrent/");
    if (isThreads && STARTS.contains(method)) {
      return Kind.START;
    }
    return isDevice(owner) ? Kind.DEVICE : null;
  }

  /**
   * Whether a call may throw before it has any effect. The caller of a close is not responsible for
   * what that leaves open.
   */
  boolean isPointBefore(String where, String method) {
    return !method.equals("close") && !where.equals(RESERVED);
  }

  /**
   * Whether there is a point after the call, too. A call that transfers work throws only if it has
   * not transferred it; otherwise nothing could tell whether the work will be done.
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
