package io.fasterkv.flink.backend;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.typeutils.SimpleTypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.api.common.typeutils.base.TypeSerializerSingleton;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Serializers with unusual behaviour that user code may have. */
public final class OddSerializers {
  private OddSerializers() {}

  /** A serializer of numbers; the base of the serializers of this test. */
  private abstract static class OfNumbers extends TypeSerializerSingleton<Integer> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isImmutableType() {
      return true;
    }

    @Override
    public Integer createInstance() {
      return 0;
    }

    @Override
    public Integer copy(Integer from) {
      return from;
    }

    @Override
    public Integer copy(Integer from, Integer reuse) {
      return from;
    }

    @Override
    public int getLength() {
      return -1;
    }

    @Override
    public Integer deserialize(Integer reuse, DataInputView source) throws IOException {
      return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
      serialize(deserialize(source), target);
    }
  }

  /** Supports a single number, which it writes as zero bytes. */
  public static final class AsNothing extends OfNumbers {
    private static final long serialVersionUID = 1L;

    @Override
    public void serialize(Integer number, DataOutputView target) {}

    @Override
    public Integer deserialize(DataInputView source) {
      return 0;
    }

    @Override
    public TypeSerializerSnapshot<Integer> snapshotConfiguration() {
      return new AsNothingSnapshot();
    }
  }

  /** The snapshot of {@link AsNothing}. */
  public static final class AsNothingSnapshot extends SimpleTypeSerializerSnapshot<Integer> {
    public AsNothingSnapshot() {
      super(AsNothing::new);
    }
  }

  /** Writes equal numbers as different bytes, as serializers of sets may. */
  public static final class NeverTheSame extends OfNumbers {
    private static final long serialVersionUID = 1L;
    private static final AtomicInteger WRITTEN = new AtomicInteger();

    @Override
    public void serialize(Integer number, DataOutputView target) throws IOException {
      target.writeInt(number);
      target.writeInt(WRITTEN.incrementAndGet());
    }

    @Override
    public Integer deserialize(DataInputView source) throws IOException {
      int number = source.readInt();
      source.readInt();
      return number;
    }

    @Override
    public TypeSerializerSnapshot<Integer> snapshotConfiguration() {
      return new NeverTheSameSnapshot();
    }
  }

  /** The snapshot of {@link NeverTheSame}. */
  public static final class NeverTheSameSnapshot extends SimpleTypeSerializerSnapshot<Integer> {
    public NeverTheSameSnapshot() {
      super(NeverTheSame::new);
    }
  }
}
