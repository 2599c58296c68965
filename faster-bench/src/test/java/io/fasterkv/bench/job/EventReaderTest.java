package io.fasterkv.bench.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.fasterkv.bench.events.EventClock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceOutput;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.table.data.RowData;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EventReaderTest {
  private static final JobPlan PLAN =
      new JobPlan(
          TestJob.NONE,
          StateBackend.HASHMAP,
          new JobPlan.Input(10_000, 5, 100),
          new JobPlan.Cluster(2, 0, false),
          new JobPlan.Pace(0, 0),
          List.of(),
          1000,
          false);

  @TempDir Path directory;

  /** Records the output of a reader. */
  private static final class Emitted implements ReaderOutput<RowData> {
    final List<RowData> events = new ArrayList<>();
    long newest = Long.MIN_VALUE;
    long watermark = Long.MIN_VALUE;

    @Override
    public void collect(RowData event) {
      throw new AssertionError("an event without a timestamp");
    }

    @Override
    public void collect(RowData event, long time) {
      assertThat(time).isGreaterThan(watermark);
      assertThat(event.getTimestamp(4, 3).getMillisecond()).isEqualTo(time);
      events.add(event);
      newest = Math.max(newest, time);
    }

    @Override
    public void emitWatermark(Watermark emitted) {
      assertThat(emitted.getTimestamp()).isGreaterThan(watermark);
      watermark = emitted.getTimestamp();
    }

    @Override
    public void markIdle() {}

    @Override
    public void markActive() {}

    @Override
    public SourceOutput<RowData> createOutputForSplit(String split) {
      return this;
    }

    @Override
    public void releaseOutputForSplit(String split) {}
  }

  private static EventReader reader(JobMeter meter, EventSplit split) throws IOException {
    EventReader reader =
        new EventReader(() -> Assertions.fail("already has a split"), meter.forTasks().open());
    reader.addSplits(List.of(split));
    reader.start();
    return reader;
  }

  @Test
  void aRestoredReaderContinuesWithTheNextEvent() throws Exception {
    Emitted atOnce = new Emitted();
    Emitted inParts = new Emitted();
    EventSplit.Serializer serializer = new EventSplit.Serializer();
    try (JobMeter meter = JobMeter.open(PLAN, directory)) {
      EventReader one = reader(meter, new EventSplit(PLAN.share(1), 0));
      while (one.pollNext(atOnce) != InputStatus.END_OF_INPUT) {
        assertThat(one.isAvailable()).isCompleted();
      }
      EventSplit split = new EventSplit(PLAN.share(1), 0);
      while (split.position() < split.share().size()) {
        EventReader part = reader(meter, split);
        for (int i = 0; i < 777; i++) {
          part.pollNext(inParts);
        }
        split =
            serializer.deserialize(
                serializer.getVersion(), serializer.serialize(part.snapshotState(1).getFirst()));
      }
      assertThat(meter.emitted()).isEqualTo(10_000);
    }
    assertThat(atOnce.events).hasSize(5_000);
    assertThat(inParts.events).isEqualTo(atOnce.events);
    assertThat(atOnce.watermark)
        .isBetween(EventClock.BEGIN_MILLIS - EventClock.LATENESS_MILLIS, atOnce.newest);
  }

  @Test
  void anEventIsNotEmittedBeforeItIsDue() throws Exception {
    JobPlan slow =
        new JobPlan(
            TestJob.NONE,
            StateBackend.HASHMAP,
            new JobPlan.Input(100, 5, 1),
            new JobPlan.Cluster(1, 0, false),
            new JobPlan.Pace(1, 0),
            List.of(),
            1000,
            false);
    try (JobMeter meter = JobMeter.open(slow, directory)) {
      EventReader reader = reader(meter, new EventSplit(slow.share(0), 0));
      Emitted emitted = new Emitted();
      assertThat(reader.pollNext(emitted)).isEqualTo(InputStatus.MORE_AVAILABLE);
      assertThat(reader.pollNext(emitted)).isEqualTo(InputStatus.NOTHING_AVAILABLE);
      assertThat(reader.isAvailable()).isNotDone();
      assertThat(emitted.events).hasSize(1);
    }
  }
}
