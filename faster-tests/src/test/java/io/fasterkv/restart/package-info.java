/** Jobs that start again and again in one process must leave nothing behind. */
package io.fasterkv.restart;
