package io.fasterkv.api;

/** Which records a scan of the log shows. */
public enum Versions {
  /** Every record that got into its chain, tombstones included, oldest first. */
  ALL,
  /**
   * For each key that has a value, only the newest record that the scan's range had at its start.
   */
  LIVE
}
