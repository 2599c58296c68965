package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Flink's own suite where stores have their memory from the C library, and no mapped files. */
@Tag("no-native-access")
class NoNativeAccessStateBackendTest extends FasterStateBackendTest {}
