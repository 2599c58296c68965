/** Checks the one jar that is packaged for Flink, on the class path that Flink gives it. */
package io.fasterkv.packaging;
