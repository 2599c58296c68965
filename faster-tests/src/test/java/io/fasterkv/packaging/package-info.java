/** What is packaged for Flink: the one jar, and the class path that it finds there. */
package io.fasterkv.packaging;
