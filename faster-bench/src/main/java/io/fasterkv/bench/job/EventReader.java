package io.fasterkv.bench.job;

import io.fasterkv.bench.events.EventClock;
import io.fasterkv.bench.events.Events;
import io.fasterkv.bench.events.Share;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/**
 * Emits the events of its split, and a watermark after some of them; where a pace is set, no event
 * before it is due. All methods are called by the task's thread.
 */
final class EventReader implements SourceReader<RowData, EventSplit> {
  /** Covers 200 ms of event time with two readers. */
  private static final int EVENTS_PER_WATERMARK = 1_000;

  private static final long SHORTEST_WAIT_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  private final Runnable splitRequest;
  private final TaskMeter meter;
  private final Events events;
  private final boolean isPaced;
  private final CompletableFuture<Void> arrived = new CompletableFuture<>();
  private @Nullable Share share;
  private long position;
  private long size;
  private long newestMillis;
  private boolean noMoreSplits;

  /**
   * @param splitRequest asks for a split, which {@link #addSplits} receives later
   */
  EventReader(Runnable splitRequest, TaskMeter meter) {
    this.splitRequest = splitRequest;
    this.meter = meter;
    events = new Events(meter.plan().input().seed());
    isPaced = meter.plan().pace().eventsPerSecond() > 0;
  }

  @Override
  public void start() {
    meter.readerStarted();
    if (share == null) {
      splitRequest.run();
    }
  }

  @Override
  public InputStatus pollNext(ReaderOutput<RowData> output) {
    Share of = share;
    if (of == null) {
      return noMoreSplits ? InputStatus.END_OF_INPUT : InputStatus.NOTHING_AVAILABLE;
    }
    if (position == size) {
      return InputStatus.END_OF_INPUT;
    }
    long number = of.number(position);
    if (isPaced && meter.dueNanos(number) > System.nanoTime()) {
      return InputStatus.NOTHING_AVAILABLE;
    }
    long millis = EventClock.millisOf(number);
    output.collect(events.event(number), millis);
    meter.count(of.index());
    position++;
    newestMillis = Math.max(newestMillis, millis);
    if (position % EVENTS_PER_WATERMARK == 0) {
      output.emitWatermark(new Watermark(newestMillis - EventClock.LATENESS_MILLIS - 1));
    }
    return InputStatus.MORE_AVAILABLE;
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    Share of = share;
    if (of == null) {
      return arrived;
    }
    if (!isPaced || position == size) {
      return CompletableFuture.completedFuture(null);
    }
    long wait = meter.dueNanos(of.number(position)) - System.nanoTime();
    return wait <= 0
        ? CompletableFuture.completedFuture(null)
        : new CompletableFuture<Void>()
            .completeOnTimeout(null, Math.max(wait, SHORTEST_WAIT_NANOS), TimeUnit.NANOSECONDS);
  }

  @Override
  public List<EventSplit> snapshotState(long checkpointId) {
    return share == null ? List.of() : List.of(new EventSplit(share, position));
  }

  @Override
  public void addSplits(List<EventSplit> splits) {
    if (share != null || splits.size() != 1) {
      throw new IllegalStateException(
          "a reader has one split: splits=" + splits.size() + ", hadOne=" + (share != null));
    }
    EventSplit split = splits.getFirst();
    share = split.share();
    position = split.position();
    size = split.share().size();
    arrived.complete(null);
  }

  @Override
  public void notifyNoMoreSplits() {
    noMoreSplits = true;
    arrived.complete(null);
  }

  @Override
  public void close() {}
}
