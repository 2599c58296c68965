package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Flink's own suite where stores have mapped files, and memory that moves to the index. */
@Tag("native-access")
class NativeAccessStateBackendTest extends FasterStateBackendTest {}
