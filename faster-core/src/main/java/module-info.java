/** The FASTER key-value store. What is not exported here is not for users. */
module io.fasterkv {
  requires static transitive org.jspecify;

  exports io.fasterkv;
  exports io.fasterkv.api;
  exports io.fasterkv.api.checkpoint;
  exports io.fasterkv.api.config;
  exports io.fasterkv.api.session;
  exports io.fasterkv.api.statistics;
  exports io.fasterkv.device;
  exports io.fasterkv.epoch;
  exports io.fasterkv.spi;
}
