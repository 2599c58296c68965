/** Tests the packaged backend in a cluster of separate JVMs that are killed, and on full disks. */
package io.fasterkv.cluster;
