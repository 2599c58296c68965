/** Compares the store on a disk with fio on the same disk. */
@NullMarked
package io.fasterkv.bench.disk;

import org.jspecify.annotations.NullMarked;
