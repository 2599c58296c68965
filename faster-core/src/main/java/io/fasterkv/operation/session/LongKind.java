package io.fasterkv.operation.session;

import io.fasterkv.operation.core.Request.Kind;

/** The kinds of operation on {@code long} keys. */
public enum LongKind {
  READ(Kind.READ),
  UPSERT(Kind.UPSERT),
  RMW(Kind.RMW),
  DELETE(Kind.DELETE);

  final Kind kind;

  LongKind(Kind kind) {
    this.kind = kind;
  }
}
