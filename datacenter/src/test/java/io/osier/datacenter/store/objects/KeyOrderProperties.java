package io.osier.datacenter.store.objects;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** The keys in their order, against a sorted set. */
final class KeyOrderProperties {
  /** Few different bytes: keys that begin others, and the least and the largest byte. */
  @Provide
  Arbitrary<Key> keys() {
    Arbitrary<Byte> bytes = Arbitraries.of((byte) 0, (byte) 1, (byte) 'a', (byte) -1);
    Arbitrary<byte[]> texts = bytes.array(byte[].class).ofMinSize(1).ofMaxSize(6);
    // Where lengths take two bytes, and where few keys fill a leaf.
    Arbitrary<Integer> lengths = Arbitraries.of(1, 127, 128, 300, Key.LENGTH_MAX);
    Arbitrary<Key> padded =
        Combinators.combine(texts, lengths)
            .as((text, length) -> Key.of(Arrays.copyOf(text, Math.max(text.length, length))));
    return Arbitraries.frequencyOf(Tuple.of(9, texts.map(Key::of)), Tuple.of(1, padded));
  }

  @Property
  void anyChanges_leaveTheKeysInTheirOrder(
      @ForAll("changes") List<Key> changes, @ForAll("keys") Key bound) {
    KeyOrder order = new KeyOrder();
    TreeSet<Key> wanted = new TreeSet<>();
    for (Key key : changes) { // a key that is there is removed
      if (wanted.remove(key)) {
        order.remove(key);
      } else {
        wanted.add(key);
        order.add(key);
      }
    }
    assertThat(all(order, order.from(KeyOrder.LEAST))).containsExactlyElementsOf(wanted);
    assertThat(all(order, order.from(bound))).containsExactlyElementsOf(wanted.tailSet(bound));
    assertThat(all(order, order.after(bound)))
        .containsExactlyElementsOf(wanted.tailSet(bound, false));
  }

  @Provide
  Arbitrary<List<Key>> changes() {
    return keys().list().ofMaxSize(400);
  }

  private static List<Key> all(KeyOrder order, List<Key> first) {
    List<Key> all = new ArrayList<>();
    for (List<Key> next = first; !next.isEmpty(); next = order.after(next.getLast())) {
      all.addAll(next);
    }
    return all;
  }

  @Example
  void keysThatComeInTheirOrder_fillTheirLeaves() {
    KeyOrder order = new KeyOrder();
    int count = 10_000;
    for (int i = 0; i < count; i++) {
      order.add(Key.of(String.format("key%07d", i)));
    }
    assertThat(all(order, order.from(KeyOrder.LEAST))).hasSize(count);
    int perLeaf = order.from(Key.of("key0005000")).size();
    assertThat(order.leaves()).isLessThanOrEqualTo(count * 11 / (KeyOrder.LEAF_BYTES_MAX - 11) + 1);
    assertThat(perLeaf).isPositive();
  }
}
