package io.fasterkv.flink.backend;

import org.junit.jupiter.api.Tag;

/** Tests a full disk with stores that allocate from the C library and do not map files. */
@Tag("no-native-access")
class NoNativeAccessFullDiskTest extends FullDiskBackendTest {}
