package io.fasterkv.inject;

import io.fasterkv.inject.Point.Kind;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Which calls are points, by the type of what is called: no list of call sites is kept by hand. */
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

  /** It has reserved stack for the action that it calls, and allocates nothing before. */
  private static final String RESERVED = "DrainList.runNext";

  /** What they have changed in place before they throw stays so: that is their owner's affair. */
  private static final Set<String> IN_PLACE = Set.of("inPlaceUpdater", "concurrentWriter");

  private final Map<String, Boolean> devices = new ConcurrentHashMap<>();

  /** What a call is; null if it is no point. */
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
   * Whether a call may throw with nothing done. What a close leaves open then is its own affair.
   */
  boolean isPointBefore(String where, String method) {
    return !method.equals("close") && !where.equals(RESERVED);
  }

  /**
   * Whether what follows a call is a point, too. A call that hands work over, or takes it over,
   * throws only if it has not: nobody could tell otherwise whether the work is going to be done.
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
