package io.fasterkv.flink;

import org.junit.jupiter.api.Tag;

/** Flink's own suite of migrations where stores have mapped files. */
@Tag("native-access")
class NativeAccessStateMigrationTest extends FasterStateMigrationTest {}
