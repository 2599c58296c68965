/**
 * The packaged backend in a cluster of separate JVMs that are killed, and on disks that are full.
 */
package io.fasterkv.cluster;
