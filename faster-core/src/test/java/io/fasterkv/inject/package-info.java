/**
 * Throws Errors from chosen points of the store's code and checks that the store fails correctly.
 */
package io.fasterkv.inject;
