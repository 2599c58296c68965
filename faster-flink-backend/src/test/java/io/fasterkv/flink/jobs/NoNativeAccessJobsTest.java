package io.fasterkv.flink.jobs;

import org.junit.jupiter.api.Tag;

/** Tests failing jobs with stores that allocate from the C library and do not map files. */
@Tag("no-native-access")
@Tag("long")
class NoNativeAccessJobsTest extends JobsUnderFailoverTest {}
