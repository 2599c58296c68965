package io.fasterkv.demo.check;

/**
 * A wrong result of the job.
 *
 * @param word the word
 * @param what the part of the state
 * @param expected the correct value
 * @param actual the job's value
 */
public record Difference(String word, String what, String expected, String actual) {
  @Override
  public String toString() {
    return what + " of '" + word + "': expected=" + expected + ", actual=" + actual;
  }
}
