package io.fasterkv.bench.store;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** The number in the first 8 bytes of a value of any size. */
final class SpanValues {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private SpanValues() {}

  static long number(byte[] value) {
    return (long) LONG.get(value, 0);
  }

  static void setNumber(byte[] value, long number) {
    LONG.set(value, 0, number);
  }
}
