package io.fasterkv.bench.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeyStreamTest {
  private static KeyStream stream(Workload workload) {
    return KeyStream.make(workload, Distribution.UNIFORM, 1_000, 10_000, 3);
  }

  @Test
  void aMixWritesAsOftenAsItsNameSays() {
    long writes =
        Arrays.stream(stream(Workload.named("30:70")).keys()).filter(KeyStream::isWrite).count();

    assertThat(writes / 10_000.0).isCloseTo(0.7, within(0.03));
  }

  @Test
  void writtenValuesBelongToTheirKeys() {
    KeyStream stream = stream(Workload.named("50:50"));

    for (int i = 0; i < stream.length(); i++) {
      long key = KeyStream.key(stream.keys()[i]);
      assertThat(key).isBetween(0L, 999L);
      assertThat(Values.fingerprintIn(stream.values()[i])).isEqualTo(Values.fingerprint(key));
    }
  }

  @Test
  void expectsTheFingerprintsOfReadsOnlyOverRoundsAndTheirRests() {
    KeyStream stream = stream(Workload.named("50:50"));
    int from = 9_990;
    long operations = 25_003;
    long expected = 0;
    for (long i = from; i < from + operations; i++) {
      long element = stream.keys()[(int) (i % stream.length())];
      expected += KeyStream.isWrite(element) ? 0 : Values.fingerprint(element);
    }

    assertThat(stream.expectedFingerprints(from, operations)).isEqualTo(expected);
    assertThat(stream(Workload.RMW).expectedFingerprints(from, operations)).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"rmw", "read", "upsert", "50:50", "95:5"})
  void aWorkloadIsFoundByItsLabel(String label) {
    assertThat(Workload.named(label).label()).isEqualTo(label);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "scan", "50", "50:", ":50", "60:50", "-1:101", "a:b"})
  void otherLabelsAreNoWorkloads(String label) {
    assertThatThrownBy(() -> Workload.named(label)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anRmwChangesTheCountAndNotTheFingerprint() {
    long value = Values.of(77, 5) + 1;

    assertThat(Values.countIn(value)).isEqualTo(6);
    assertThat(Values.fingerprintIn(value)).isEqualTo(Values.fingerprint(77));
    assertThat(value).isNotNegative();
  }
}
