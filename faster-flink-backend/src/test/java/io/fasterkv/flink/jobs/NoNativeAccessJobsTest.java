package io.fasterkv.flink.jobs;

import org.junit.jupiter.api.Tag;

/** Jobs that fail where stores have their memory from the C library, and no mapped files. */
@Tag("no-native-access")
class NoNativeAccessJobsTest extends JobsUnderFailoverTest {}
