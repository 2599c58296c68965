package io.fasterkv.flink.backend;

import org.junit.jupiter.api.Tag;

/** A full disk where stores have their memory from the C library, and no mapped files. */
@Tag("no-native-access")
class NoNativeAccessFullDiskTest extends FullDiskBackendTest {}
