package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.device.memory.MemoryDevice;
import io.fasterkv.epoch.EpochUser;
import io.fasterkv.log.HybridLog;
import io.fasterkv.log.UpdateRegions;
import io.fasterkv.operation.core.Engine;
import java.nio.file.Path;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests a thaw of frozen records while one session copies such a record and another is between
 * reading the index entry and reading the log's addresses: the second session must see the copy.
 */
class ThawTest {
  @TempDir Path directory;

  private enum Late {
    RMW,
    UPSERT,
    DELETE
  }

  @ParameterizedTest
  @EnumSource(Late.class)
  void anOperationByTheMarksOfAThawFindsTheCopiesFromBeforeIt(Late late) {
    BiConsumer<?, ?> scenario =
        HookedClasses.create(
            Scenario.class, BiConsumer.class, UpdateRegions.class.getName(), "inPlaceFrom");
    run(scenario, directory, late.name());
  }

  @SuppressWarnings("unchecked")
  private static void run(BiConsumer<?, ?> scenario, Path directory, String late) {
    ((BiConsumer<Path, String>) scenario).accept(directory, late);
  }

  /** Runs on classes in which a thread can be stopped before it reads the log's addresses. */
  static final class Scenario implements BiConsumer<Path, String> {
    private static final ByteSpan KEY = HashedKeys.numbered(5, 1);

    @Override
    public void accept(Path directory, String late) {
      StoreConfig config =
          StoreConfig.builder(directory)
              .memoryBytes(1 << 20)
              .logMemoryBytes(4 * 4096)
              .pageBytes(4096)
              .indexBytes(4096)
              .keyHash(HashedKeys::hash)
              .build();
      try (FasterStore store = FasterStore.open(config, new MemoryDevice())) {
        Engine engine = Insides.engine(store);
        HybridLog log = engine.log();
        try (var session = store.newSession().spans(StoppingSum.plain())) {
          session.rmw(KEY, 1L, null);
        }
        log.cuts().awaitFrozen(freeze(engine));
        Pause copies = new Pause();
        copies.start(() -> {
          try (var session = store.newSession().spans(new StoppingSum(copies::here))) {
            assertThat(session.rmw(KEY, 1L, null)).isEqualTo(Status.COPIED);
          }
        });
        // The thaw waits for the copy, and for no later operation.
        Thread thaw = Pause.begin(log.cuts()::thawSnapshot);
        Pause.awaitWaiting(thaw);
        Pause atMarks = new Pause();
        atMarks.start(() -> {
          Hook.stopBefore(atMarks);
          operate(store, Late.valueOf(late));
        });
        copies.finish();
        Pause.join(thaw);
        atMarks.finish();
        assertThat(sum(store)).isEqualTo(expected(Late.valueOf(late)));
        StoreInvariants.check(store);
      }
    }

    private static long freeze(Engine engine) {
      try (EpochUser user = engine.epochs().register()) {
        user.protect();
        try {
          return engine.log().cuts().freezeForSnapshot();
        } finally {
          user.unprotect();
        }
      }
    }

    private static void operate(FasterStore store, Late late) {
      try (var session = store.newSession().spans(StoppingSum.plain())) {
        switch (late) {
          case RMW -> session.rmw(KEY, 1L, null);
          case UPSERT -> session.upsert(KEY, StoppingSum.value(70), null);
          case DELETE -> assertThat(session.delete(KEY, null)).isEqualTo(Status.FOUND);
        }
      }
    }

    private static long expected(Late late) {
      return switch (late) {
        case RMW -> 3;
        case UPSERT -> 70;
        case DELETE -> -1;
      };
    }

    /** -1 if the key has no value. */
    private static long sum(FasterStore store) {
      long[] sum = new long[1];
      try (var session = store.newSession().spans(StoppingSum.plain())) {
        return session.read(KEY, 0L, sum, null) == Status.FOUND ? sum[0] : -1;
      }
    }
  }
}
