package io.fasterkv.api;

/** Selects the records that a scan of the log returns. */
public enum Versions {
  /** Every record that was inserted into its chain, including tombstones, oldest first. */
  ALL,
  /**
   * For each key with a value, only its newest record in the scan's range at the start of the scan.
   */
  LIVE
}
