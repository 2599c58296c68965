/** What the author of a device needs: a device stores the bytes of a log, asynchronously. */
@NullMarked
package io.fasterkv.device;

import org.jspecify.annotations.NullMarked;
