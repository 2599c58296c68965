/** Checks that jobs restarted repeatedly in one process leave nothing behind. */
package io.fasterkv.restart;
