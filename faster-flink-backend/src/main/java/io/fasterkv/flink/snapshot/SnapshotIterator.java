package io.fasterkv.flink.snapshot;

import java.io.IOException;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyValueStateIterator;
import org.apache.flink.util.IOUtils;

/**
 * Iterates over a whole snapshot in the order in which Flink writes it: for each key group, the
 * states in the order of their numbers, then the timer queues. For one thread.
 */
final class SnapshotIterator implements KeyValueStateIterator {
  private static final byte[] NO_VALUE = new byte[0];

  private final AutoCloseable resources;
  private final SavepointEntries entries;
  private final TimerEntries timers;
  private final int states;
  private final int lastKeyGroup;
  private boolean entryAhead;
  private boolean inTimers;
  private boolean valid;
  private boolean newKeyGroup;
  private boolean newState;
  private int keyGroup;
  private int stateId = -1;
  private byte[] key = NO_VALUE;
  private byte[] value = NO_VALUE;

  /**
   * Moves to the first entry.
   *
   * @param states number of states; the numbers of timer queues follow
   * @param resources closed with this
   */
  SnapshotIterator(
      SavepointEntries entries,
      TimerEntries timers,
      int states,
      KeyGroupRange range,
      AutoCloseable resources)
      throws IOException {
    this.entries = entries;
    this.timers = timers;
    this.states = states;
    this.resources = resources;
    this.lastKeyGroup = range.getEndKeyGroup();
    this.keyGroup = range.getStartKeyGroup();
    this.entryAhead = entries.next();
    next();
  }

  @Override
  public void next() throws IOException {
    int lastGroup = valid ? keyGroup : -1;
    int lastState = stateId;
    valid = step();
    newKeyGroup = keyGroup != lastGroup;
    newState = newKeyGroup || stateId != lastState;
  }

  private boolean step() throws IOException {
    while (true) {
      if (!inTimers && entryAhead && entries.keyGroup() == keyGroup) {
        takeEntry();
        return true;
      }
      if (!inTimers) {
        inTimers = true;
        timers.start(keyGroup);
      }
      byte[] timer = timers.next();
      if (timer.length > 0) {
        key = timer;
        value = NO_VALUE;
        stateId = states + timers.queue();
        return true;
      }
      if (keyGroup == lastKeyGroup) {
        return false;
      }
      keyGroup++;
      inTimers = false;
    }
  }

  private void takeEntry() throws IOException {
    key = entries.key();
    value = entries.value();
    stateId = entries.stateId();
    entryAhead = entries.next();
  }

  @Override
  public int keyGroup() {
    return keyGroup;
  }

  @Override
  public byte[] key() {
    return key;
  }

  @Override
  public byte[] value() {
    return value;
  }

  @Override
  public int kvStateId() {
    return stateId;
  }

  @Override
  public boolean isNewKeyValueState() {
    return newState;
  }

  @Override
  public boolean isNewKeyGroup() {
    return newKeyGroup;
  }

  @Override
  public boolean isValid() {
    return valid;
  }

  @Override
  public void close() {
    IOUtils.closeQuietly(resources);
  }
}
