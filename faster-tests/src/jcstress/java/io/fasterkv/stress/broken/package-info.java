/**
 * Frozen broken variants of what is tested one package up, judged by the same detectors. Their bad
 * outcome is "interesting": a report in which it was never seen means that the detector is blind.
 */
package io.fasterkv.stress.broken;
