/** Throws Errors from chosen points of the store's code and checks that it fails well. */
package io.fasterkv.inject;
