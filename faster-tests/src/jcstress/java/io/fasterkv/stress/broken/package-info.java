/**
 * Broken variants of the classes tested one package up, judged by the same detectors. Their bad
 * outcome is "interesting": if a report never shows it, the detector does not work.
 */
package io.fasterkv.stress.broken;
