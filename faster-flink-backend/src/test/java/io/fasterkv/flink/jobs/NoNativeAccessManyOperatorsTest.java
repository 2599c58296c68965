package io.fasterkv.flink.jobs;

import org.junit.jupiter.api.Tag;

/** Tests many operators in a slot whose stores each have an equal part of the memory. */
@Tag("no-native-access")
@Tag("long")
class NoNativeAccessManyOperatorsTest extends ManyOperatorsTest {}
