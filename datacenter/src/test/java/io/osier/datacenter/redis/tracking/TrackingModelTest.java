package io.osier.datacenter.redis.tracking;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.datacenter.feed.ChangeListener.Changed;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.RedisException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Random clients with caches, reads, changes and expirations against a store of versions: once all
 * that waits is delivered, no client has in its cache what is older than what is visible.
 */
final class TrackingModelTest {
  private static final List<String> KEYSPACES = List.of("shop", "carts");
  private static final int KEYS = 12;
  private static final int STEPS = 3_000;

  private final Map<String, Map<Key, Integer>> visible = new HashMap<>();
  private final List<Client> clients = new ArrayList<>();

  /** Something that a connection is sent, in the order of its commands. */
  private static final class Place {
    @Nullable Runnable arrives;
  }

  /** A program with a cache. */
  private final class Client {
    final Tracking tracking;
    final TrackedClient tracked;
    final boolean resp3;

    /** What is sent and has not arrived. */
    final ArrayDeque<Place> sent = new ArrayDeque<>();

    final Map<String, Map<Key, Integer>> cache = new HashMap<>();

    /** What is being read: an answer is kept if nothing was heard since it was asked for. */
    final Map<String, Map<Key, Object>> asked = new HashMap<>();

    /** Whose cache is told of by this connection. */
    final Set<Client> hearsFor = new HashSet<>();

    String keyspace = "shop";

    Client(Tracking tracking, boolean resp3) {
      this.tracking = tracking;
      this.resp3 = resp3;
      this.tracked = tracking.client(() -> {});
    }

    boolean keeps(Key key) {
      TrackingOptions options = tracked.options();
      boolean isTold = resp3 || clients.stream().anyMatch(c -> c.hearsFor.contains(this));
      if (options == null || tracked.isBroken() || !isTold) {
        return false;
      }
      return options.broadcast()
          ? tracking.prefixes(tracked).stream().anyMatch(p -> p.isBeginOf(key.toBytes()))
          : tracked.keepsNext();
    }

    Map<Key, Integer> cached() {
      return cache.computeIfAbsent(keyspace, k -> new HashMap<>());
    }

    /** Asks for a key; the answer is made later, and arrives in its turn. */
    Runnable ask(Key key) {
      String of = keyspace;
      boolean keeps = keeps(key);
      if (tracked.keepsNext()) {
        tracking.read(tracked, of, List.of(key));
      }
      tracked.setCaching(null);
      Object mark = new Object();
      if (keeps) {
        asked.computeIfAbsent(of, k -> new HashMap<>()).put(key, mark);
      }
      Place place = new Place();
      sent.add(place);
      return () -> {
        int version = version(of, key);
        place.arrives =
            () -> {
              if (keeps && asked.getOrDefault(of, new HashMap<>()).remove(key, mark)) {
                cache.computeIfAbsent(of, k -> new HashMap<>()).put(key, version);
              }
            };
      };
    }

    /** What waits for it is sent. */
    void push() {
      RespValue.Push push;
      while ((push = tracking.poll(tracked, resp3, true)) != null) {
        RespValue.Push told = push;
        Place place = new Place();
        place.arrives = () -> hear(told);
        sent.add(place);
      }
    }

    private void hear(RespValue.Push push) {
      RespValue what = push.values().getLast();
      if (what instanceof RespValue.Int) {
        forget(null); // nobody hears in its place
        return;
      }
      List<Key> keys =
          what instanceof RespValue.Array all
              ? all.values().stream().map(v -> Key.of(((RespValue.Bulk) v).bytes())).toList()
              : null;
      forget(keys);
      hearsFor.forEach(each -> each.forget(keys));
    }

    private void forget(@Nullable List<Key> keys) {
      for (Map<String, ? extends Map<Key, ?>> each : List.of(cache, asked)) {
        if (keys == null) {
          each.values().forEach(Map::clear);
        } else {
          each.values().forEach(m -> m.keySet().removeAll(keys));
        }
      }
    }

    void arrive(int count) {
      for (int i = 0; i < count; i++) {
        Place next = sent.peek();
        Runnable arrives = next == null ? null : next.arrives;
        if (arrives == null) {
          return;
        }
        sent.poll();
        arrives.run();
      }
    }

    /** It does not hear for others any more; who speaks RESP2 is not told, but sees that. */
    void leave() {
      tracking.leave(tracked);
      hearsFor.stream().filter(each -> !each.resp3).forEach(each -> each.forget(null));
      hearsFor.clear();
    }

    void trackNothing() {
      tracking.off(tracked);
      cache.clear();
      asked.clear();
      clients.forEach(each -> each.hearsFor.remove(this));
    }
  }

  private int version(String keyspace, Key key) {
    return visible.computeIfAbsent(keyspace, k -> new HashMap<>()).getOrDefault(key, 0);
  }

  private static Key key(Random random) {
    int n = random.nextInt(KEYS);
    return Key.of((n % 3 == 0 ? "a:" : n % 3 == 1 ? "ab:" : "b:") + n);
  }

  @Test
  void caches_afterAllThatWaits_haveNothingOld() {
    long first = new Random().nextLong();
    int kept = 0;
    for (long seed = first; seed < first + 150; seed++) {
      visible.clear();
      clients.clear();
      kept += run(seed, seed % 4 == 0 ? 2_000 : 1 << 20);
    }
    assertThat(kept).as("so much was kept").isGreaterThan(100);
  }

  private int run(long seed, long bytesMax) {
    Random random = new Random(seed);
    Tracking tracking = new Tracking(bytesMax, seed);
    for (int i = 0; i < 5; i++) {
      clients.add(new Client(tracking, i < 4));
    }
    List<Runnable> partition = new ArrayList<>();
    int kept = 0;
    for (int step = 0; step < STEPS; step++) {
      Client client = clients.get(random.nextInt(clients.size()));
      switch (random.nextInt(24)) {
        case 0 -> on(client, options(random), random);
        case 1 -> {
          switch (random.nextInt(8)) {
            case 0, 1, 2 -> client.trackNothing();
            case 3 -> client.leave();
            default -> {}
          }
        }
        case 2 -> select(client, random);
        case 3 -> {
          TrackingOptions options = client.tracked.options();
          if (options != null && (options.optIn() || options.optOut())) {
            client.tracked.setCaching(options.optIn());
          }
        }
        case 4 -> {
          if (random.nextInt(10) == 0) {
            tracking.flush(client.keyspace);
            tracking.of(client.keyspace).missed();
          }
        }
        case 5, 6, 7, 8, 9, 10, 11 -> partition.add(client.ask(key(random)));
        case 12, 13, 14 -> change(client, random);
        case 15, 16 -> client.push();
        case 17, 18, 19 -> client.arrive(1 + random.nextInt(4));
        default -> {
          if (!partition.isEmpty()) {
            partition.remove(random.nextInt(partition.size())).run();
          }
        }
      }
      if (step % 500 == 499) {
        kept += settle(partition, seed);
      }
    }
    clients.forEach(Client::trackNothing);
    clients.forEach(each -> tracking.leave(each.tracked));
    KEYSPACES.forEach(of -> tracking.of(of).missed());
    assertThat(tracking.bytes()).as("everything is given back, seed %d", seed).isZero();
    return kept;
  }

  private static TrackingOptions options(Random random) {
    int mode = random.nextInt(5);
    List<Prefix> prefixes = new ArrayList<>();
    for (String each : List.of("a:", "ab:", "b:", "ab", "")) {
      if (mode == 0 && random.nextInt(4) == 0) {
        prefixes.add(Prefix.of(each.getBytes(StandardCharsets.UTF_8)));
      }
    }
    return new TrackingOptions(
        mode == 0,
        mode == 1,
        mode == 2,
        random.nextBoolean(),
        random.nextInt(3) > 0 ? 0 : 1,
        prefixes);
  }

  private void on(Client client, TrackingOptions options, Random random) {
    Client target = options.redirect() == 0 ? null : clients.get(random.nextInt(clients.size()));
    boolean isSame = target != null && target.hearsFor.contains(client);
    try {
      client.tracking.on(
          client.tracked, options, client.keyspace, target == null ? null : target.tracked);
    } catch (RedisException e) {
      return;
    }
    if (options.redirect() == 0
        || !isSame) { // a program that hears elsewhere from now on keeps nothing
      clients.forEach(each -> each.hearsFor.remove(client));
      client.forget(null);
      if (target != null) {
        target.hearsFor.add(client);
      }
    }
    if (options.optIn() || options.optOut()) {
      client.forget(null);
    }
  }

  private void select(Client client, Random random) {
    String to = KEYSPACES.get(random.nextInt(2));
    try {
      client.tracking.select(client.tracked, to);
      client.keyspace = to;
    } catch (RedisException e) {
      // There is no room for its prefixes there.
    }
  }

  /** A few keys change together, by a client or by nobody. */
  private void change(Client client, Random random) {
    List<Changed> changed = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      Key key = key(random);
      long author = random.nextBoolean() ? client.tracked.author() : 0;
      int version = version(client.keyspace, key) + 1;
      requireNonNull(visible.get(client.keyspace)).put(key, version);
      changed.add(new Changed(key, author));
      Map<Key, Object> asked = client.asked.get(client.keyspace);
      if (author != 0) { // it knows what it has written
        client.cached().computeIfPresent(key, (k, v) -> version);
        if (asked != null) {
          asked.remove(key);
        }
      }
    }
    client.tracking.of(client.keyspace).changed(changed);
  }

  /** Delivers everything; returns how much is in caches, of which nothing may be old. */
  private int settle(List<Runnable> partition, long seed) {
    partition.forEach(Runnable::run);
    partition.clear();
    clients.forEach(Client::push);
    clients.forEach(each -> each.arrive(Integer.MAX_VALUE));
    int kept = 0;
    for (Client each : clients) {
      assertThat(each.sent).isEmpty();
      for (Map.Entry<String, Map<Key, Integer>> of : each.cache.entrySet()) {
        for (Map.Entry<Key, Integer> entry : of.getValue().entrySet()) {
          kept++;
          assertThat(entry.getValue())
              .as(
                  "%s of %s at client %d with %s, seed %d",
                  entry.getKey(), of.getKey(), clients.indexOf(each), each.tracked.options(), seed)
              .isEqualTo(version(of.getKey(), entry.getKey()));
        }
      }
    }
    return kept;
  }
}
