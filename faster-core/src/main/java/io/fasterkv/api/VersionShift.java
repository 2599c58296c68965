package io.fasterkv.api;

/** How sessions go from one version of the store to the next (CPR, section 6.5 and appendix C). */
public enum VersionShift {
  /**
   * Operations hold a latch of their key's bucket for the short time in which two versions are at
   * work; updates go on at once. For nearly all.
   */
  FINE,
  /**
   * Operations hold no latch; an update of the new version waits until no operation of the old one
   * can be changing the record. Cheaper for operations of the old version, with longer waits for
   * those of the new one.
   */
  COARSE
}
