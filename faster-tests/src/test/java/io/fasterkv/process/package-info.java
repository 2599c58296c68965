/** JVMs that tests start and that always end with them. */
package io.fasterkv.process;
