/** Checks the documentation: links have targets, and examples compile. */
package io.fasterkv.docs;
