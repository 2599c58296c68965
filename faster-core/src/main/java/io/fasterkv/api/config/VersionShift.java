package io.fasterkv.api.config;

/**
 * Selects how sessions move from one version of the store to the next (CPR, SIGMOD'19, section 6.5
 * and appendix C).
 */
public enum VersionShift {
  /**
   * Operations latch their key's bucket during the short time in which two versions exist; updates
   * continue without waiting. The right choice for nearly all applications.
   */
  FINE,
  /**
   * Operations use no latch. An update of the new version waits until no operation of the old
   * version can be changing the record. Operations of the old version are cheaper, and those of the
   * new version wait longer.
   */
  COARSE
}
