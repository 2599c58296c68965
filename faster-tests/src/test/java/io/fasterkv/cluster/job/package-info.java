/** The job that the cluster runs; its jar is submitted as a user would submit it. */
package io.fasterkv.cluster.job;
