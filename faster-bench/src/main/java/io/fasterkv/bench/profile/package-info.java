/** Profiles of a process: a recording of the JDK Flight Recorder, and its hottest frames. */
@NullMarked
package io.fasterkv.bench.profile;

import org.jspecify.annotations.NullMarked;
