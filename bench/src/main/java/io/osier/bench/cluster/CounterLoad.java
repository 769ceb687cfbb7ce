package io.osier.bench.cluster;

import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Increments counters (zipfian) and adds unique elements to sets at all datacenters, and remembers
 * every update that was acknowledged and every one whose outcome is unknown.
 */
public final class CounterLoad extends WriterLoad {
  static final int COUNTERS = 2_000;
  static final int SETS = 50;
  private static final double EXPONENT = 0.99;
  private static final int IN_FLIGHT = 64;

  private final String prefix;
  private final Map<String, LongAdder> acknowledged = new ConcurrentHashMap<>();
  private final Map<String, LongAdder> unknown = new ConcurrentHashMap<>();
  private final Map<String, Set<Value>> elements = new ConcurrentHashMap<>();
  private final Map<String, Set<Value>> unknownElements = new ConcurrentHashMap<>();
  private final AtomicLong serial = new AtomicLong();
  private final Zipf zipf = new Zipf(COUNTERS, EXPONENT);
  private volatile int shift;

  /**
   * Starts one thread for each datacenter.
   *
   * @param targetPerSecond updates per second of all threads together
   */
  public CounterLoad(LocalCluster cluster, String keyspace, int targetPerSecond, long seed) {
    this(cluster, cluster.dcs(), keyspace, targetPerSecond, seed);
  }

  /**
   * Starts one thread for each of some datacenters. Loads of one keyspace that run at once do not
   * know of each other's updates, and find them surplus.
   *
   * @param targetPerSecond updates per second of all threads together; Integer.MAX_VALUE for as
   *     fast as they are answered
   */
  public CounterLoad(
      LocalCluster cluster, List<String> dcs, String keyspace, int targetPerSecond, long seed) {
    this(dcs, cluster::client, keyspace, "", targetPerSecond, Long.MAX_VALUE, seed);
  }

  /**
   * Starts one thread for each of some datacenters.
   *
   * @param clients makes the client of each
   * @param prefix of all keys
   * @param targetPerSecond updates per second of all threads together
   * @param elementsMax so many elements at most are added to sets, and remembered here; after that
   *     there are increments alone
   */
  public CounterLoad(
      List<String> dcs,
      Function<String, OsierClient> clients,
      String keyspace,
      String prefix,
      int targetPerSecond,
      long elementsMax,
      long seed) {
    super(IN_FLIGHT);
    this.prefix = prefix;
    long pause = 1_000_000_000L * dcs.size() / targetPerSecond;
    start(
        dcs,
        clients,
        (dc, client) -> {
          SplittableRandom random = new SplittableRandom(seed + clients());
          Keyspace space = client.session().keyspace(keyspace);
          return room -> {
            if (random.nextInt(10) == 0 && serial.get() < elementsMax) {
              add(space, random, room);
            } else {
              increment(space, random, room);
            }
            return pause;
          };
        });
  }

  private void increment(Keyspace space, SplittableRandom random, Semaphore room) {
    String key = counter((zipf.next(random) + shift) % COUNTERS);
    account(
        space.counter(key).incrementAsync(1),
        room,
        () -> count(acknowledged, key),
        isUnknown -> {
          if (isUnknown) {
            count(unknown, key);
          }
        });
  }

  private void add(Keyspace space, SplittableRandom random, Semaphore room) {
    String key = set(random.nextInt(SETS));
    Value element = Value.of(serial.incrementAndGet());
    account(
        space.set(key).addAsync(List.of(element)),
        room,
        () -> note(elements, key, element),
        isUnknown -> {
          if (isUnknown) {
            note(unknownElements, key, element);
          }
        });
  }

  private String set(int number) {
    return prefix + "set:" + number;
  }

  private String counter(int number) {
    return prefix + "counter:" + number;
  }

  private static void note(Map<String, Set<Value>> sets, String key, Value element) {
    sets.computeIfAbsent(key, k -> ConcurrentHashMap.newKeySet()).add(element);
  }

  private static void count(Map<String, LongAdder> counts, String key) {
    counts.computeIfAbsent(key, k -> new LongAdder()).increment();
  }

  /**
   * Makes other counters the hot ones from now on.
   *
   * @param by how many places the order of heat moves; at least 0
   */
  public void shift(int by) {
    shift = by % COUNTERS;
  }

  /**
   * What a datacenter shows against what was acknowledged.
   *
   * @param missing acknowledged updates that are not there
   * @param surplus updates that are there more often than they were made: counted twice, or never
   *     asked for
   */
  public record Audit(long missing, long surplus) {}

  /** Reads every counter and set of a datacenter, and holds it against what was acknowledged. */
  public Audit audit(Keyspace at) {
    return audit(Contents.rows(at));
  }

  /** Holds what was read of a datacenter, all of it, against what was acknowledged. */
  public Audit audit(List<Keyspace.Row> rows) {
    Map<String, Reading> there = new HashMap<>();
    rows.forEach(row -> there.put(row.key().toString(), row.value()));
    long missing = 0;
    long surplus = 0;
    for (int i = 0; i < COUNTERS; i++) {
      String key = counter(i);
      long value = there.get(key) instanceof Reading.Count c ? c.value() : 0;
      long more = value - sum(acknowledged, key);
      missing += Math.max(0, -more);
      surplus += Math.max(0, more - sum(unknown, key));
    }
    for (int i = 0; i < SETS; i++) {
      String key = set(i);
      Set<Value> shown =
          there.get(key) instanceof Reading.Many m ? Set.copyOf(m.values()) : Set.of();
      Set<Value> wanted = elements.getOrDefault(key, Set.of());
      Set<Value> possible = unknownElements.getOrDefault(key, Set.of());
      missing += wanted.stream().filter(v -> !shown.contains(v)).count();
      surplus += shown.stream().filter(v -> !wanted.contains(v) && !possible.contains(v)).count();
    }
    return new Audit(missing, surplus);
  }

  private static long sum(Map<String, LongAdder> counts, String key) {
    LongAdder count = counts.get(key);
    return count == null ? 0 : count.sum();
  }
}
