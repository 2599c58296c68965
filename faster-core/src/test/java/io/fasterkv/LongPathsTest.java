package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.LongFunctions;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfig.RecordKind;
import java.lang.ref.WeakReference;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests how many classes are created for a store, and that they are unloaded. */
class LongPathsTest {
  @TempDir Path directory;

  @Test
  void sessionsWithFunctionsOfOneClassShareAClassAndStoresDoNot() {
    try (FasterStore store = open("a");
        FasterStore other = open("b");
        LongSession<Void> first = session(store);
        LongSession<Void> second = session(store);
        LongSession<Void> elsewhere = session(other)) {
      assertThat(pathClass(first)).isSameAs(pathClass(second)).matches(Class::isHidden);
      assertThat(pathClass(elsewhere)).isNotSameAs(pathClass(first));
    }
  }

  @Test
  void aResizedIndexGetsAnotherClassAndTheOldOneGoes() {
    try (FasterStore store = open("a");
        LongSession<Void> session = session(store)) {
      session.upsert(1, 10, null);
      WeakReference<Class<?>> old = new WeakReference<>(pathClass(session));
      store.index().grow();
      assertThat(session.rmw(1, 5, null)).isEqualTo(Status.UPDATED_IN_PLACE);
      assertThat(session.read(1, null)).isEqualTo(Status.FOUND);
      assertThat(session.value()).isEqualTo(15);
      assertThat(pathClass(session)).matches(Class::isHidden);
      PathClasses.assertGoes(old);
    }
  }

  @Test
  void theClassOfAClosedStoreGoes() {
    PathClasses.assertGoes(openAndClose());
  }

  private WeakReference<Class<?>> openAndClose() {
    try (FasterStore store = open("a");
        LongSession<Void> session = session(store)) {
      session.upsert(1, 10, null);
      session.rmw(1, 10, null);
      return new WeakReference<>(pathClass(session));
    }
  }

  private FasterStore open(String name) {
    return FasterStore.open(
        StoreConfig.builder(directory.resolve(name))
            .recordKind(RecordKind.LONGS)
            .memoryBytes(4 << 20)
            .indexBytes(64 << 10)
            .deleteOnClose(true)
            .build());
  }

  private static LongSession<Void> session(FasterStore store) {
    return store.newSession().longs(LongFunctions.sum());
  }

  private static Class<?> pathClass(LongSession<?> session) {
    return PathClasses.in(session, "core", "path");
  }
}
