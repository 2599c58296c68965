package io.fasterkv.compaction;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.Seeds;
import io.fasterkv.api.ByteSpan;
import io.fasterkv.compaction.KeyTable.State;
import io.fasterkv.memory.BufferPool;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the table's answers about random records, some in the piece and others above it, with
 * the truth. A part of its key's value is never dead, records about which nothing is known are left
 * to the chain, and everything else is decided.
 */
@Tag("seeds")
class KeyTableTest {
  private static final int RUNS = 2000;

  enum Kind {
    ORDINARY,
    DELTA,
    /** A tombstone, an anchor, or a record marked as overwritten. */
    KILLER
  }

  record Written(int key, Kind kind, long address) {}

  /** How records above the piece are entered into the table. */
  interface Sweep {
    void see(KeyTable table, ByteSpan key, Written written);
  }

  static LongStream seeds() {
    return Seeds.fresh(4);
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void reportsWhatHappenedToEachRecord(long seed) {
    assertThat(firstWrong(seed, KeyTableTest::sweep)).as("seed " + seed).isNull();
  }

  /** The broken variant. */
  @Test
  void detectsADeltaThatKillsItsBase() {
    Sweep broken = (table, key, written) -> table.kill(key, written.address());
    assertThat(firstWrong(1, broken)).contains("DEAD, expected UNKNOWN");
  }

  private static void sweep(KeyTable table, ByteSpan key, Written written) {
    if (written.kind() == Kind.DELTA) {
      table.cover(key);
    } else {
      table.kill(key, written.address());
    }
  }

  private static String firstWrong(long seed, Sweep sweep) {
    SplittableRandom random = new SplittableRandom(seed);
    MemoryBudget budget = new MemoryBudget(1 << 20);
    OffHeapArena arena = new OffHeapArena(budget);
    try {
      BufferPool pool = new BufferPool(arena, 1 << 20);
      String wrong = null;
      for (int run = 0; run < RUNS && wrong == null; run++) {
        wrong = wrong(random, pool, sweep);
      }
      return wrong;
    } finally {
      arena.close();
    }
  }

  private static String wrong(SplittableRandom random, BufferPool pool, Sweep sweep) {
    List<Written> log = log(random);
    int piece = random.nextInt(log.size() + 1);
    try (KeyTable table = KeyTable.tryTake(pool, 0)) {
      int until = 0;
      while (until < piece && note(table, log.get(until))) {
        until++;
      }
      for (Written written : log.subList(until, log.size())) {
        sweep.see(table, key(written), written);
      }
      int open = 0;
      for (int i = 0; i < until; i++) {
        Written written = log.get(i);
        if (written.kind() != Kind.KILLER) {
          State reported = table.state(key(written), written.address());
          State expected = fate(log, i);
          if (reported != expected) {
            return written + " of " + log + ": " + reported + ", expected " + expected;
          }
          open += reported == State.DEAD ? 0 : 1;
        }
      }
      return table.open() == 0 && open > 0 ? "none is open of " + log : null;
    }
  }

  private static List<Written> log(SplittableRandom random) {
    List<Written> log = new ArrayList<>();
    int keys = random.nextInt(1, 8);
    for (int i = random.nextInt(30); i >= 0; i--) {
      Kind kind = Kind.values()[random.nextInt(3)];
      log.add(new Written(random.nextInt(keys), kind, 64 + 8L * log.size()));
    }
    return log;
  }

  private static boolean note(KeyTable table, Written written) {
    return switch (written.kind()) {
      case ORDINARY -> table.put(key(written), written.address());
      case DELTA -> table.putDelta(key(written));
      case KILLER -> {
        table.kill(key(written), written.address());
        yield true;
      }
    };
  }

  private static State fate(List<Written> log, int index) {
    boolean isUnderDeltas = log.get(index).kind() == Kind.DELTA;
    for (Written newer : log.subList(index + 1, log.size())) {
      if (newer.key() == log.get(index).key()) {
        if (newer.kind() != Kind.DELTA) {
          return State.DEAD;
        }
        isUnderDeltas = true;
      }
    }
    return isUnderDeltas ? State.UNKNOWN : State.NEWEST;
  }

  private static ByteSpan key(Written written) {
    return ByteSpan.of(new byte[1 + written.key()]);
  }
}
