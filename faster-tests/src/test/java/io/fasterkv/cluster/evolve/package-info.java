/**
 * A job whose state has types that change. Later versions of its classes are among the test
 * resources.
 */
package io.fasterkv.cluster.evolve;
