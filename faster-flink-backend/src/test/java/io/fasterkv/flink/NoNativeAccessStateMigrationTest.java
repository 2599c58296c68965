package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Flink's own suite of migrations where stores read what is on disk by system calls. */
@Tag("no-native-access")
class NoNativeAccessStateMigrationTest extends FasterStateMigrationTest {}
