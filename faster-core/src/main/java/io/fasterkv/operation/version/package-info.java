/**
 * Says which version of the store each session and each attempt of an operation belongs to, and
 * what sessions have done. Version shifts ask this room; it knows no records of the log.
 */
@NullMarked
package io.fasterkv.operation.version;

import org.jspecify.annotations.NullMarked;
