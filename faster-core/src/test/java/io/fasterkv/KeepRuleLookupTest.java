package io.fasterkv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.api.Status;
import io.fasterkv.api.config.KeepRule;
import io.fasterkv.api.config.StoreConfig;
import io.fasterkv.api.config.StoreConfigBuilder;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests random groups of keys against a plain map, in a store whose rule looks up a group's head
 * before it drops a member. Members of existing groups are kept; members of deleted groups are
 * dropped from the log. Some heads and members do not fit a page, and some heads consist of deltas.
 * The seed is in the test's name; {@code -Dfaster.seed=N} replays it.
 */
@Tag("seeds")
class KeepRuleLookupTest {
  private static final int STEPS = 12_000;
  private static final int GROUPS = 30;
  private static final int MEMBERS = 12;
  private static final int PAGE_BYTES = 4096;

  /** The identity and the members of each existing group. */
  private final Map<Integer, Group> model = new HashMap<>();

  private volatile long writtenBelow = 1;
  private long next = 1;

  @TempDir Path directory;

  private record Group(long identity, Map<Integer, byte[]> members) {}

  static LongStream seeds() {
    return Seeds.fresh(8);
  }

  /** A key is the group and the member's number, which is 0 for the head. */
  private static ByteSpan key(int group, int member) {
    return ByteSpan.of(ByteBuffer.allocate(8).putInt(group).putInt(member).array());
  }

  private static long identity(ByteSpan value) {
    return ByteBuffer.wrap(value.toArray()).getLong();
  }

  private final KeepRule rule =
      (key, value, store) -> {
        ByteBuffer parts = ByteBuffer.wrap(key.toArray());
        int group = parts.getInt();
        long identity = identity(value);
        if (parts.getInt() == 0 || identity >= writtenBelow) {
          return true;
        }
        ByteSpan head = store.find(key(group, 0));
        return head != null && identity(head) == identity;
      };

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void membersOfAHeadStayAndOthersAreDropped(long seed) {
    run(seed, rule);
  }

  /** So that a compaction run has an effect. */
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void aLookUpThatMissesIsFound(long seed) {
    KeepRule blind =
        (key, value, store) ->
            rule.keeps(key, value, other -> key.getByte(3) % 4 == 0 ? null : store.find(other));
    assertThatThrownBy(() -> run(seed, blind)).isInstanceOf(AssertionError.class);
  }

  private void run(long seed, KeepRule keepRule) {
    SplittableRandom random = new SplittableRandom(seed);
    int kind = random.nextInt(4);
    try (FasterStore store = FasterStore.open(config(random, kind, keepRule));
        Session<byte[], BytesFunctions.Result, Object> session =
            store.newSession().spans(new BytesFunctions())) {
      for (int step = 0; step < STEPS; step++) {
        int number = random.nextInt(GROUPS);
        Group group = model.get(number);
        switch (random.nextInt(20)) {
          case 0 -> {
            session.delete(key(number, 0), null);
            model.remove(number);
          }
          case 1, 2, 3 -> start(session, number, random);
          case 4 -> {
            if (group != null) {
              session.rmw(key(number, 0), new byte[1 + random.nextInt(20)], null);
            }
          }
          case 5, 6, 7, 8 -> {
            if (group != null) {
              put(session, number, group, 1 + random.nextInt(MEMBERS), random);
            }
          }
          default -> check(session, number, "seed " + seed + ", step " + step);
        }
        if (kind != 0 && random.nextInt(300) == 0) {
          store.log().compact();
        }
      }
      for (int number = 0; number < GROUPS; number++) {
        check(session, number, "seed " + seed + ", group " + number);
      }
      if (kind > 1) {
        for (int number = 0; number < GROUPS; number++) {
          session.delete(key(number, 0), null);
        }
        // So that the whole log is on disk, where compaction reads it.
        store.checkpoints().remove(store.checkpoints().take());
        store.log().compact();
        assertThat(store.statistics().compaction().expiredBytes()).as("seed " + seed).isPositive();
        assertThat(store.statistics().logBytes()).as("seed " + seed).isLessThan(8 * PAGE_BYTES);
        StoreInvariants.check(store);
      }
    }
  }

  /** Writes the members first, then the head. */
  private void start(
      Session<byte[], BytesFunctions.Result, Object> session, int number, SplittableRandom random) {
    Group group = new Group(next++, new HashMap<>());
    for (int member = 1; member <= MEMBERS; member += 1 + random.nextInt(4)) {
      put(session, number, group, member, random);
    }
    session.upsert(key(number, 0), ByteSpan.of(value(group, random)), null);
    writtenBelow = next;
    model.put(number, group);
  }

  private static void put(
      Session<byte[], BytesFunctions.Result, Object> session,
      int number,
      Group group,
      int member,
      SplittableRandom random) {
    byte[] value = value(group, random);
    session.upsert(key(number, member), ByteSpan.of(value), null);
    group.members().put(member, value);
  }

  private static byte[] value(Group group, SplittableRandom random) {
    int more = random.nextInt(20) == 0 ? 3500 + random.nextInt(4000) : random.nextInt(60);
    byte[] value = new byte[Long.BYTES + more];
    random.nextBytes(value);
    ByteBuffer.wrap(value).putLong(group.identity());
    return value;
  }

  private void check(
      Session<byte[], BytesFunctions.Result, Object> session, int number, String at) {
    Group group = model.get(number);
    if (group == null) {
      assertThat(session.read(key(number, 0), null, null, null)).as(at).isEqualTo(Status.NOT_FOUND);
      return;
    }
    group
        .members()
        .forEach((member, value) -> {
          BytesFunctions.Result result = new BytesFunctions.Result();
          Status status = session.read(key(number, member), null, result, null);
          assertThat(status).as(at + ", member " + member).isEqualTo(Status.FOUND);
          assertThat(result.value).as(at + ", member " + member).isEqualTo(value);
        });
  }

  /** In the background, in memory, and on request with and without a merge. */
  private StoreConfig config(SplittableRandom random, int kind, KeepRule keepRule) {
    StoreConfigBuilder config =
        kind == 1 ? StoreConfig.inMemory().backgroundCompaction(false) : onDisk(random, kind == 0);
    config
        .memoryBytes(kind == 1 ? 4 << 20 : 1 << 20)
        .scratchBytes(256 << 10)
        .pageBytes(PAGE_BYTES)
        .indexBytes(64L << random.nextInt(2, 9))
        .keepRule(keepRule);
    return (kind == 3 ? config.merge(new BytesFunctions()) : config).build();
  }

  private StoreConfigBuilder onDisk(SplittableRandom random, boolean inBackground) {
    return StoreConfig.builder(directory)
        .logMemoryBytes((long) PAGE_BYTES << random.nextInt(2, 5))
        .segmentBytes(2 * PAGE_BYTES)
        .mutableFraction(0.5)
        .deleteOnClose(true)
        .backgroundCompaction(inBackground);
  }
}
