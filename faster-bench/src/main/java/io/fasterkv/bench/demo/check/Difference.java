package io.fasterkv.bench.demo.check;

/**
 * Something that the job has wrong.
 *
 * @param word of which word
 * @param what which part of the state
 * @param expected the truth
 * @param actual what the job says
 */
public record Difference(String word, String what, String expected, String actual) {
  @Override
  public String toString() {
    return what + " of '" + word + "': expected=" + expected + ", actual=" + actual;
  }
}
