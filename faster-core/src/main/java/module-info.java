/** The FASTER key-value store. What is not exported here is not for users. */
module io.fasterkv {
  requires static transitive org.jspecify;

  exports io.fasterkv;
  exports io.fasterkv.api;
  exports io.fasterkv.device;
  exports io.fasterkv.epoch;
}
