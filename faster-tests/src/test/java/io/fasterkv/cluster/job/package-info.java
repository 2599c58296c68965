/** The job that the cluster runs; its jar is sent to it, as a user's is. */
package io.fasterkv.cluster.job;
