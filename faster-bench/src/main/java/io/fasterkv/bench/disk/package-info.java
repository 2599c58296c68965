/** The store on a disk, against fio on the same disk. */
@NullMarked
package io.fasterkv.bench.disk;

import org.jspecify.annotations.NullMarked;
