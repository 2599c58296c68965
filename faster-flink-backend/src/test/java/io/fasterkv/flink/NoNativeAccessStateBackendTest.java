package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Runs Flink's own suite with stores that allocate from the C library and do not map files. */
@Tag("no-native-access")
@Tag("long")
class NoNativeAccessStateBackendTest extends FasterStateBackendTest {}
