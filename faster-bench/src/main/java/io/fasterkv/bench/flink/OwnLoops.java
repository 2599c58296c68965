package io.fasterkv.bench.flink;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import org.apache.flink.api.common.state.StateTtlConfig;

/** Defines the class of a suite's loops anew for each backend: compiled code for it alone. */
final class OwnLoops {
  private OwnLoops() {}

  static StateLoops of(Suite suite, StateData data, OpenBackend<Long> backend) throws Exception {
    Class<? extends StateLoops> loops =
        switch (suite) {
          case VALUE, TTL_VALUE -> ValueLoops.class;
          case LIST, TTL_LIST -> ListLoops.class;
          case MAP, TTL_MAP -> MapLoops.class;
        };
    return (StateLoops)
        again(loops)
            .getDeclaredConstructor(StateData.class, OpenBackend.class, StateTtlConfig.class)
            .newInstance(data, backend, suite.hasTtl() ? TtlTime.CONFIG : StateTtlConfig.DISABLED);
  }

  private static Class<?> again(Class<?> original) throws IOException, IllegalAccessException {
    String file = original.getName().substring(original.getPackageName().length() + 1) + ".class";
    try (InputStream in = original.getResourceAsStream(file)) {
      if (in == null) {
        throw new IOException("a class file is missing: file=" + file);
      }
      return MethodHandles.lookup().defineHiddenClass(in.readAllBytes(), true).lookupClass();
    }
  }
}
