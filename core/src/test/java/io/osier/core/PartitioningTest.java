package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class PartitioningTest {
  private static final Partitioning BY_KEY = Partitioning.byKey(256);
  private static final Partitioning BY_TAG = new Partitioning(256, Partitioning.Hash.TAG);

  @Test
  void byKey_isEvenAndStable() {
    Map<Integer, Integer> counts = new HashMap<>();
    for (int i = 0; i < 8_000; i++) {
      counts.merge(Partitioning.byKey(8).of(Key.of("user" + i)), 1, Integer::sum);
    }
    assertThat(counts).hasSize(8);
    assertThat(counts.values()).allSatisfy(n -> assertThat(n).isBetween(700, 1_300));
    // Stored data lives in these partitions.
    assertThat(List.of("a", "cart:7", "user42", "{a}b"))
        .extracting(text -> BY_KEY.of(Key.of(text)))
        .containsExactly(27, 164, 50, 181);
  }

  /** Which part of a key is hashed, as the specification of Redis Cluster has it. */
  @ParameterizedTest
  @CsvSource({
    "{user1000}.following, user1000",
    "foo{}{bar}, foo{}{bar}",
    "foo{{bar}}zap, {bar",
    "foo{bar}{zap}, bar",
    "{a}, a",
    "{}, {}",
    "{a, {a",
    "a}, a}",
    "}a{b}c, b",
    "}{, }{",
    "a, a"
  })
  void byTag_hashesTheTag(String key, String hashed) {
    assertThat(BY_TAG.of(Key.of(key))).isEqualTo(BY_KEY.of(Key.of(hashed)));
  }

  @Test
  void byTag_isThatOfTheTagAlone_whateverTheBytes() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      byte[] bytes = new byte[1 + random.nextInt(8)];
      for (int b = 0; b < bytes.length; b++) {
        bytes[b] = (byte) (random.nextBoolean() ? random.nextInt(256) : "{}".charAt(i & b & 1));
      }
      String text = new String(bytes, StandardCharsets.ISO_8859_1);
      int from = text.indexOf('{') + 1;
      int to = text.indexOf('}', from);
      Key hashed = from > 0 && to > from ? Key.of(bytes, from, to) : Key.of(bytes);
      assertThat(BY_TAG.of(Key.of(bytes)))
          .as("seed %d, %s", seed, text)
          .isEqualTo(BY_KEY.of(hashed));
    }
  }

  /** So a client that knows no tags may use it. */
  @Test
  void onePartition_isByKey() {
    assertThat(new Partitioning(1, Partitioning.Hash.TAG)).isEqualTo(Partitioning.byKey(1));
  }

  @Test
  void fingerprint_namesTheHashOnlyWhereItIsByTag() {
    KeyspacePolicy policy = KeyspacePolicy.session("shop", Duration.ZERO).withPartitions(4);
    assertThat(policy.fingerprint())
        .isEqualTo(
            "shop{consistency=SESSION, replicas=all, partitions=4, limits=1024/1048576/16777216}");
    assertThat(policy.fingerprint(Optional.of("1-eu")))
        .isEqualTo("shop{created=1-eu, consistency=SESSION, replicas=all, partitions=4}");
    KeyspacePolicy byTag = policy.with(new Partitioning(4, Partitioning.Hash.TAG));
    assertThat(byTag.fingerprint()).contains("partitions=4, hash=TAG, limits=");
    assertThat(byTag.fingerprint(Optional.of("1-eu"))).endsWith("partitions=4, hash=TAG}");
  }

  @Test
  void count_outOfRange_isRefused() {
    for (int count : new int[] {0, KeyspacePolicy.PARTITIONS_MAX + 1}) {
      assertThatThrownBy(() -> Partitioning.byKey(count))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("partitions must be 1 to 256");
    }
  }
}
