package io.osier.datacenter.redis.tracking;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Which prefixes a key begins with. */
final class PrefixesTest {
  private static byte[] text(Random random) {
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(6); length > 0; length--) {
      text.append(random.nextBoolean() ? 'a' : '\u00ff');
    }
    return text.toString().getBytes(StandardCharsets.ISO_8859_1);
  }

  @Test
  void of_randomKeys_showsThoseThatTheyBeginWith() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    Prefixes prefixes = new Prefixes(seed);
    List<TrackedClient> clients = List.of(new TrackedClient(() -> {}), new TrackedClient(() -> {}));
    Map<TrackedClient, Set<Prefix>> model = new HashMap<>();
    clients.forEach(c -> model.put(c, new TreeSet<>()));
    for (int step = 0; step < 20_000; step++) {
      TrackedClient client = clients.get(random.nextInt(2));
      Prefix prefix = Prefix.of(text(random));
      if (random.nextBoolean()) {
        prefixes.add(prefix, client);
        requireNonNull(model.get(client)).add(prefix);
      } else {
        prefixes.remove(prefix, client);
        requireNonNull(model.get(client)).remove(prefix);
      }
      byte[] key = text(random);
      Set<String> expected = new TreeSet<>();
      model.forEach(
          (c, all) ->
              all.stream()
                  .filter(p -> p.isBeginOf(key))
                  .forEach(p -> expected.add(clients.indexOf(c) + ":" + p)));
      List<String> found = new ArrayList<>();
      prefixes.of(key, e -> e.clients.forEach(c -> found.add(clients.indexOf(c) + ":" + e.prefix)));
      assertThat(found).as("seed %d", seed).containsExactlyInAnyOrderElementsOf(expected);
    }
    Set<Prefix> all = new TreeSet<>();
    model.values().forEach(all::addAll);
    assertThat(prefixes.size()).isEqualTo(all.size());
  }

  @Test
  void hash_ofManyTexts_isSpread() {
    Prefixes prefixes = new Prefixes(7);
    TrackedClient client = new TrackedClient(() -> {});
    for (int i = 0; i < 50_000; i++) {
      prefixes.add(Prefix.of(("k" + i).getBytes(StandardCharsets.US_ASCII)), client);
    }
    assertThat(prefixes.longestSlot()).isLessThan(3);
  }
}
