package io.fasterkv.stress.broken;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.index.HashIndex.Transition;
import io.fasterkv.memory.MemoryBudget;
import io.fasterkv.memory.OffHeapArena;
import io.fasterkv.stress.CrowdedTail;
import io.fasterkv.stress.EvictedRecord;
import io.fasterkv.stress.GuardedCell;
import io.fasterkv.stress.ResizedIndex;
import io.fasterkv.stress.SharedValue;
import io.fasterkv.stress.TinyIndex;
import io.fasterkv.stress.UpdatedRecord;
import io.fasterkv.stress.WrittenPages;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the detectors of the stress tests work: each one detects its broken variant. */
@Tag("long")
class DetectorsCatchBrokenVariantsTest {
  private static final int ROUNDS = 20_000_000;

  private OffHeapArena arena;

  @BeforeEach
  void open() {
    arena = new OffHeapArena(new MemoryBudget(1 << 20));
  }

  @AfterEach
  void close() {
    arena.close();
  }

  @Test
  void anAnnouncementWithoutAFenceLetsMemoryBeFreedUnderItsReader() {
    LateAnnouncement epochs = new LateAnnouncement(arena);
    AtomicReference<String> seen = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            epochs::reset,
            () -> seen.setPlain(epochs.read()),
            epochs::hideAndFree,
            () -> seen.getPlain().equals(GuardedCell.FREED));
    report("late announcement", rounds);
  }

  @Test
  void aReclaimThatDoesNotAskForTheOwnerTakesALiveUsersProtection() {
    BlindReclaim epochs = new BlindReclaim(arena);
    AtomicReference<String> seen = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            epochs::reset,
            () -> seen.setPlain(epochs.read()),
            epochs::hideReclaimAndFree,
            () -> seen.getPlain().equals(GuardedCell.FREED));
    report("blind reclaim", rounds);
  }

  @Test
  void anInsertOfOnePhaseMakesTwoEntriesForATag() {
    SinglePhaseIndex index = new SinglePhaseIndex(arena);
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            () -> index.reset(2),
            () -> {
              index.removeFirst(1);
              index.push(1);
            },
            () -> index.push(2),
            () -> index.entriesOfTag() == 2 && index.reachable() == 1);
    report("single-phase insert", rounds);
  }

  /** Only a resize may reopen a chain: it has waited for the threads that share its entries. */
  @Test
  void aChainThatIsReopenedWhileThreadsShareItsEntriesLosesARecord() {
    TinyIndex index = new TinyIndex(arena, 1);
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            () -> {
              index.reset(8);
              index.saturate();
            },
            () -> index.push(1),
            () -> {
              index.reopen();
              index.push(2);
            },
            () -> index.reachable() < 3);
    report("hasty reopening", rounds);
  }

  @Test
  void aReaderThatDoesNotLookTwiceSeesATornValue() {
    SharedValue value = new SharedValue(arena);
    AtomicReference<String> seen = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            value::reset,
            () -> seen.setPlain(value.readOnce()),
            value::update,
            () -> seen.getPlain().equals(SharedValue.TORN));
    report("no second look", rounds);
  }

  @Test
  void aResizeThatDoesNotWaitForOperationsUnderWayLosesARecord() {
    HastyResize index = new HastyResize(arena);
    AtomicReference<Transition> resize = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            () -> {
              index.reset().push(2);
              resize.setPlain(index.begin());
            },
            () -> index.push(0),
            () -> index.end(resize.getPlain(), 1),
            () -> index.reachable() < 2 * ResizedIndex.RECORDS);
    report("hasty resize", rounds);
  }

  @Test
  void aPageThatIsTurnedTwiceHandsItsBytesOutTwice() {
    PageTurnedTwice tail = new PageTurnedTwice();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            tail::reset,
            () -> tail.allocate(0),
            () -> tail.allocate(1),
            () -> !tail.defect().equals(CrowdedTail.SOUND));
    report("page turned twice", rounds);
  }

  @Test
  void aFrameThatIsClearedTwiceLosesItsPage() {
    FrameClearedTwice pages = new FrameClearedTwice(arena);
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            pages::reset,
            () -> pages.fill(0),
            () -> pages.fill(1),
            () -> pages.defect().equals(WrittenPages.WIPED));
    report("frame cleared twice", rounds);
  }

  @Test
  void anUpdateByAMarkThatWasReadTooEarlyIsMissedByTheFlush() {
    UpdatedRecord record = new UpdatedRecord(arena);
    AtomicReference<String> said = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            record::reset,
            () -> said.setPlain(record.updateBySeenMark()),
            record::flush,
            () -> {
              String written = record.written();
              boolean isMissed = !written.equals(UpdatedRecord.NEW);
              return said.getPlain().equals(UpdatedRecord.IN_PLACE) && isMissed;
            });
    report("mark read too early", rounds);
  }

  @Test
  void aReaderByAHeadThatWasReadTooEarlySeesAReusedFrame() {
    EvictedRecord record = new EvictedRecord(arena);
    AtomicReference<String> seen = new AtomicReference<>();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            record::reset,
            () -> seen.setPlain(record.readBySeenHead()),
            record::evict,
            () -> seen.getPlain().equals(EvictedRecord.REUSED));
    report("head read too early", rounds);
  }

  @Test
  void aDeltaThatIsNotHeldWhileItIsReplacedLosesAnUpdate() {
    UnheldDelta delta = new UnheldDelta(arena);
    int rounds =
        Race.roundsUntil(ROUNDS, delta::reset, delta::add, delta::collapse, () -> delta.sum() != 3);
    report("unheld delta", rounds);
  }

  @Test
  void anUpsertWithoutAFenceHasEndedAndCannotBeSeen() {
    UnfencedUpsert store = new UnfencedUpsert(arena);
    AtomicLong first = new AtomicLong();
    AtomicLong second = new AtomicLong();
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            store::reset,
            () -> first.setPlain(store.upsertAndLook()),
            () -> second.setPlain(store.setAndRead()),
            () -> first.getPlain() == 0 && second.getPlain() == 0);
    report("no fence", rounds);
  }

  @Test
  void aCleaningThatDoesNotCompareLosesARecord() {
    BlindCleaner index = new BlindCleaner(arena);
    int rounds =
        Race.roundsUntil(
            ROUNDS,
            index::reset,
            () -> index.push(0),
            () -> {
              index.clean();
              index.push(1);
            },
            () -> index.reachable() < 2);
    report("blind cleaner", rounds);
  }

  private static void report(String variant, int rounds) {
    System.out.println(variant + ": caught in round " + rounds);
    assertThat(rounds).as("the detector did not see: variant=%s", variant).isPositive();
  }
}
