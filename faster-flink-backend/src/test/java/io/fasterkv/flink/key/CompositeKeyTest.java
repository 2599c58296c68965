package io.fasterkv.flink.key;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fasterkv.api.ByteSpan;
import io.fasterkv.flink.Seeds;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("seeds")
class CompositeKeyTest {

  @Test
  void partsAreReadBackUnchanged() throws Throwable {
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

  /**
   * A reused key does not rewrite bytes that it already contains, even if earlier parts moved them.
   */
  @Test
  void aUsedKeyIsNamedLikeAFreshOne() throws Throwable {
    CompositeKey used = new CompositeKey();
    Seeds.run(
        2000,
        random -> {
          int keyGroup = random.nextInt(2);
          int state = random.nextInt(2);
          int sub = random.nextInt(2) << random.nextInt(3) * 15;
          byte[] key = new byte[keyBytes(random)];
          byte[] namespace = new byte[keyBytes(random)];
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

  private static int keyBytes(SplittableRandom random) {
    return random.nextInt(3)
        + (random.nextInt(4) == 0 ? LongKeyLayout.MOST_SHORT_BYTES - 3 + random.nextInt(4) : 0);
  }

  /** A record number overwrites bytes of a longer namespace whose digest was taken before. */
  @Test
  void aDigestCoversTheSelectedPrefix() {
    int sub = 0x01020304;
    byte[] namespace = new byte[LongKeyLayout.MOST_SHORT_BYTES];
    byte[] another = namespace.clone();
    KeyLayout.putInt(another, 0, sub);
    CompositeKey used = new CompositeKey();
    used.setKey(1, new byte[] {1}, 0, 1);
    byte[] first = used.select(0, namespace, 0, namespace.length).head().toArray();
    used.select(0, namespace, 0, 0).record(sub);
    byte[] second = used.select(0, another, 0, another.length).head().toArray();
    assertThat(second).isNotEqualTo(first);
    byte[] prefix = used.copyOfPrefix();
    assertThat(new CompositeKey().setPrefix(prefix, 0, prefix.length).head().toArray())
        .isEqualTo(second);
    assertThat(used.select(0, namespace, 0, namespace.length).head().toArray()).isEqualTo(first);
  }

  /** The keys have the same bytes, but the user key ends elsewhere, or the state differs. */
  @Test
  void differentLongKeysHaveDifferentRecords() {
    byte[] bytes = new byte[3 * LongKeyLayout.MOST_SHORT_BYTES];
    Set<String> heads = new HashSet<>();
    int named = 0;
    CompositeKey composite = new CompositeKey();
    for (int keyBytes : new int[] {0, 1, 200, bytes.length - 1, bytes.length}) {
      composite.setKey(1, bytes, 0, keyBytes);
      for (int state = 0; state < 3; state++) {
        ByteSpan head = composite.select(state, bytes, 0, bytes.length - keyBytes).head();
        assertThat(LongKeyLayout.hasDigest(head)).isTrue();
        assertThat(KeyLayout.state(head)).isEqualTo(state);
        assertThat(KeyLayout.keyGroup(head)).isEqualTo(1);
        heads.add(Arrays.toString(head.toArray()));
        heads.add(Arrays.toString(new CompositeKey().setKeyRecord(head).head().toArray()));
        named += 2;
      }
    }
    assertThat(heads).hasSize(named);
  }

  /** The marker of a digest is never the length of a key. */
  @Test
  void noShortKeyLooksLikeADigest() {
    CompositeKey composite = new CompositeKey();
    byte[] bytes = new byte[LongKeyLayout.MOST_SHORT_BYTES - 2];
    for (int keyBytes = 0; keyBytes <= bytes.length; keyBytes++) {
      composite.setKey(0, bytes, 0, keyBytes);
      ByteSpan head = composite.select(0, bytes, 0, 0).head();
      assertThat(LongKeyLayout.hasDigest(head)).isFalse();
      assertThat(LongKeyLayout.isOfKeyRecord(head)).isFalse();
    }
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
