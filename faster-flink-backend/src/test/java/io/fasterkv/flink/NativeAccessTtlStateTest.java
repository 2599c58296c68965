package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Flink's own suite of times to live where stores have mapped files, and read them. */
@Tag("native-access")
class NativeAccessTtlStateTest extends FasterTtlStateTinyIncrementalTest {}
