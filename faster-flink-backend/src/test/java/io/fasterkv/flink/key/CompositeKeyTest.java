package io.fasterkv.flink.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.flink.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompositeKeyTest {

  @Test
  void partsComeBackAsTheyWentIn() throws Throwable {
    CompositeKey composite = new CompositeKey();
    Seeds.run(
        200,
        random -> {
          int keyGroup = random.nextInt(1 << 15);
          int state = random.nextInt(1 << 15);
          int sub = random.nextInt();
          byte[] key = Seeds.bytes(random, random.nextInt(300));
          byte[] namespace = Seeds.bytes(random, random.nextInt(40));
          composite.setKey(keyGroup, key, 0, key.length);
          composite.select(state, namespace, 0, namespace.length);
          byte[] record = composite.record(sub).toArray();

          assertThat(KeyLayout.keyGroup(record, 0)).isEqualTo(keyGroup);
          assertThat(KeyLayout.state(record, 0)).isEqualTo(state);
          assertThat(KeyLayout.sub(record, 0, record.length)).isEqualTo(sub);
          int keyAt = KeyLayout.keyAt(record, 0);
          int namespaceAt = keyAt + KeyLayout.keyLength(record, 0);
          assertThat(Arrays.copyOfRange(record, keyAt, namespaceAt)).isEqualTo(key);
          assertThat(Arrays.copyOfRange(record, namespaceAt, record.length - KeyLayout.SUB_BYTES))
              .isEqualTo(namespace);
        });
  }

  /** What is there already is not written again, wherever the parts before it have moved it. */
  @Test
  void aUsedKeyIsNamedLikeAFreshOne() throws Throwable {
    CompositeKey used = new CompositeKey();
    Seeds.run(
        2000,
        random -> {
          int keyGroup = random.nextInt(2);
          int state = random.nextInt(2);
          int sub = random.nextInt(2) << random.nextInt(3) * 15;
          byte[] key = new byte[random.nextInt(3)];
          byte[] namespace = new byte[random.nextInt(3)];
          Arrays.fill(namespace, (byte) random.nextInt(2));
          used.setKey(keyGroup, key, 0, key.length);
          CompositeKey fresh = new CompositeKey();
          fresh.setKey(keyGroup, key, 0, key.length);
          for (CompositeKey each : List.of(used, fresh)) {
            each.select(state, namespace, 0, namespace.length);
          }
          assertThat(used.record(sub).toArray()).isEqualTo(fresh.record(sub).toArray());
          assertThat(used.head().toArray()).isEqualTo(fresh.head().toArray());
        });
  }

  @Test
  void recordsOfAPrefixLieSideBySide() {
    byte[] key = {1};
    byte[] shortNamespace = {7};
    byte[] longNamespace = {7, 0, 0, 0, 0};
    List<byte[]> records = new ArrayList<>();
    CompositeKey composite = new CompositeKey();
    for (int sub : new int[] {0, 1, 2, Integer.MAX_VALUE, -1}) {
      composite.setKey(3, key, 0, 1);
      records.add(composite.select(0, shortNamespace, 0, 1).record(sub).toArray());
      records.add(composite.select(0, longNamespace, 0, 5).record(sub).toArray());
    }
    records.sort((a, b) -> KeyLayout.compare(a, 0, a.length, b, 0, b.length));
    assertThat(records.subList(0, 5)).allMatch(record -> record.length == records.get(0).length);
    assertThat(records.subList(5, 10)).allMatch(record -> record.length == records.get(5).length);
    assertThat(KeyLayout.sub(records.get(4), 0, records.get(4).length)).isEqualTo(-1);
  }

  @Test
  void aPrefixCanBeTakenOver() {
    CompositeKey composite = new CompositeKey();
    composite.setKey(5, new byte[] {1, 2, 3}, 0, 3);
    composite.select(9, new byte[] {4}, 0, 1);
    byte[] prefix = composite.copyOfPrefix();
    CompositeKey other = new CompositeKey().setPrefix(prefix, 0, prefix.length);
    assertThat(other.hasPrefix(prefix)).isTrue();
    assertThat(other.state()).isEqualTo(9);
    assertThat(other.head().toArray()).isEqualTo(composite.head().toArray());
  }

  @Test
  void withoutAKeyNothingCanBeSelected() {
    CompositeKey composite = new CompositeKey();
    assertThatThrownBy(() -> composite.select(0, new byte[1], 0, 1))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no current key");
  }
}
