package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Runs Flink's own suite for time to live with stores that read from disk with system calls. */
@Tag("no-native-access")
class NoNativeAccessTtlStateTest extends FasterTtlStateTinyIncrementalTest {}
