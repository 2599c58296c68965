package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Runs Flink's own migration suite with stores that read from disk with system calls. */
@Tag("no-native-access")
@Tag("long")
class NoNativeAccessStateMigrationTest extends FasterStateMigrationTest {}
