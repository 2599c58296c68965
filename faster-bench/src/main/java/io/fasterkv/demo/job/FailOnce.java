package io.fasterkv.demo.job;

import io.fasterkv.demo.example.Word;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;

/** Forwards words, and fails once when half of the input has been read. */
@SuppressWarnings("NullAway.Init") // the control is there from open() on
public final class FailOnce extends RichMapFunction<Word, Word> implements CheckpointListener {
  private static final long serialVersionUID = 1;

  private final String runId;
  private final int stage;
  private final long gateAfterCheckpoint;
  private transient RunControl control;
  private transient int attempt;

  /**
   * @param stage 0 before the savepoint, 1 after it
   * @param gateAfterCheckpoint how far to read after a checkpoint has completed, in words
   */
  public FailOnce(String runId, int stage, long gateAfterCheckpoint) {
    this.runId = runId;
    this.stage = stage;
    this.gateAfterCheckpoint = gateAfterCheckpoint;
  }

  @Override
  public void open(OpenContext context) {
    control = RunControl.of(runId);
    attempt = getRuntimeContext().getTaskInfo().getAttemptNumber();
    control.failure().attemptStarted(stage, attempt);
  }

  @Override
  public Word map(Word word) {
    control.failure().wordSeen(control.progress().words(), attempt);
    return word;
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    control.gate().raise(gateAfterCheckpoint);
  }
}
