/** JVMs that tests start, and that end with them on every path. */
package io.fasterkv.process;
