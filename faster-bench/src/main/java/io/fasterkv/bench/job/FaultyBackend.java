package io.fasterkv.bench.job;

import java.io.IOException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.state.State;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.CheckpointableKeyedStateBackend;
import org.apache.flink.runtime.state.OperatorStateBackend;
import org.apache.flink.runtime.state.StateBackendFactory;
import org.apache.flink.runtime.state.StateBackendLoader;
import org.apache.flink.util.DynamicCodeLoadingException;

/**
 * Another backend, whose state loses some writes: it shows that a wrong backend is noticed.
 *
 * @param right the backend without the fault
 */
public record FaultyBackend(org.apache.flink.runtime.state.StateBackend right)
    implements org.apache.flink.runtime.state.StateBackend {

  /** The type of the backend that becomes faulty. */
  static final ConfigOption<String> RIGHT =
      ConfigOptions.key("bench.faulty.backend").stringType().noDefaultValue();

  /** One write of so many is lost. */
  private static final int WRITES = 50;

  private static final Set<String> WRITE_METHODS = Set.of("put", "update", "add", "updateInternal");

  /** Creates it for Flink. */
  public static final class Factory implements StateBackendFactory<FaultyBackend> {
    /** Created by Flink. */
    public Factory() {}

    @Override
    public FaultyBackend createFromConfig(ReadableConfig config, ClassLoader loader)
        throws IOException {
      Configuration ofRight = Configuration.fromMap(config.toMap());
      ofRight.set(StateBackendOptions.STATE_BACKEND, config.get(RIGHT));
      try {
        return new FaultyBackend(
            StateBackendLoader.loadStateBackendFromConfig(ofRight, loader, null));
      } catch (DynamicCodeLoadingException e) {
        throw new IOException("no such backend: type=" + config.get(RIGHT), e);
      }
    }
  }

  @Override
  public boolean useManagedMemory() {
    return right.useManagedMemory();
  }

  @Override
  @SuppressWarnings("unchecked") // a proxy has all interfaces
  public <K> CheckpointableKeyedStateBackend<K> createKeyedStateBackend(
      KeyedStateBackendParameters<K> parameters) throws Exception {
    CheckpointableKeyedStateBackend<K> keyed = right.createKeyedStateBackend(parameters);
    return (CheckpointableKeyedStateBackend<K>)
        proxy(
            keyed,
            (self, method, arguments) -> {
              Object result = call(keyed, method, arguments);
              return result instanceof State state ? losingWrites(state) : result;
            });
  }

  @Override
  public OperatorStateBackend createOperatorStateBackend(OperatorStateBackendParameters parameters)
      throws Exception {
    return right.createOperatorStateBackend(parameters);
  }

  private static Object losingWrites(State state) {
    AtomicInteger writes = new AtomicInteger();
    return proxy(
        state,
        (self, method, arguments) ->
            WRITE_METHODS.contains(method.getName()) && writes.incrementAndGet() % WRITES == 0
                ? null
                : call(state, method, arguments));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private static Object proxy(Object target, InvocationHandler handler) {
    Set<Class<?>> interfaces = new LinkedHashSet<>();
    for (Class<?> type = target.getClass(); type != null; type = type.getSuperclass()) {
      addAll(type, interfaces);
    }
    return Proxy.newProxyInstance(
        FaultyBackend.class.getClassLoader(), interfaces.toArray(Class<?>[]::new), handler);
  }

  private static void addAll(Class<?> type, Set<Class<?>> interfaces) {
    for (Class<?> implemented : type.getInterfaces()) {
      if (Modifier.isPublic(implemented.getModifiers())) {
        interfaces.add(implemented);
      }
      addAll(implemented, interfaces);
    }
  }
}
