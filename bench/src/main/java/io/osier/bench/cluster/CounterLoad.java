package io.osier.bench.cluster;

import static java.util.Objects.requireNonNull;

import io.osier.core.Value;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Increments counters (drawn by a Zipfian distribution) and adds unique elements to sets at all
 * datacenters, and remembers each update that was acknowledged or whose outcome is unknown.
 */
public final class CounterLoad extends WriterLoad {
  private static final int COUNTERS = 2_000;
  private static final int SETS = 50;
  private static final int IN_FLIGHT = 64;

  private final String keyspace;
  private final String prefix;
  private final Tally counters = new Tally();
  private final Members sets = new Members();
  private final AtomicLong serial = new AtomicLong();
  private final Zipf zipf = new Zipf(COUNTERS);

  /**
   * Starts one thread for each datacenter.
   *
   * @param targetPerSecond updates per second of all threads together
   */
  public CounterLoad(Fleet fleet, String keyspace, int targetPerSecond, long seed) {
    this(fleet.dcs(), fleet::client, keyspace, "", targetPerSecond, Long.MAX_VALUE, seed);
  }

  /**
   * Starts one thread for each of some datacenters. Loads that write to one keyspace at once need
   * different prefixes: otherwise each finds the other's updates surplus.
   *
   * @param prefix of all keys
   * @param targetPerSecond updates per second of all threads together; Integer.MAX_VALUE for as
   *     fast as they are answered
   * @param elementsMax the most elements that are added to sets, and kept in memory here; after
   *     that the load only increments
   */
  public CounterLoad(
      List<String> dcs,
      Function<String, OsierClient> clients,
      String keyspace,
      String prefix,
      int targetPerSecond,
      long elementsMax,
      long seed) {
    super(Set.of(keyspace), IN_FLIGHT);
    this.keyspace = keyspace;
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
    String key = counter(zipf.next(random));
    account(
        space.counter(key).incrementAsync(1),
        room,
        counters.acknowledged(key, 1),
        counters.unknown(key, 1));
  }

  private void add(Keyspace space, SplittableRandom random, Semaphore room) {
    String key = set(random.nextInt(SETS));
    Value element = Value.of(serial.incrementAndGet());
    account(
        space.set(key).addAsync(List.of(element)),
        room,
        () -> sets.added(key, element),
        () -> sets.unknown(key, element));
  }

  private String set(int number) {
    return prefix + "set:" + number;
  }

  private String counter(int number) {
    return prefix + "counter:" + number;
  }

  @Override
  protected Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis) {
    return audit(requireNonNull(there.get(keyspace)));
  }

  /** Compares all rows of the keyspace at a datacenter with the acknowledged updates. */
  public Audit audit(List<Keyspace.Row> rows) {
    Map<String, Reading> there = new HashMap<>();
    rows.forEach(row -> there.put(row.key().toString(), row.value()));
    Audit counted =
        counters.audit(key -> Tally.count(there.get(key)), keys(there, prefix + "counter:"));
    Audit had = sets.audit(key -> Members.elements(there, key), keys(there, prefix + "set:"), 0, 0);
    return counted.plus(had);
  }

  private static List<String> keys(Map<String, Reading> there, String prefix) {
    return there.keySet().stream().filter(key -> key.startsWith(prefix)).toList();
  }
}
