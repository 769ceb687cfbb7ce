package io.osier.bench.cluster;

import io.osier.core.Key;
import io.osier.crdt.Query;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * A comparison of what the datacenters show at the end of a run with each other, and with the
 * updates that loads had acknowledged.
 *
 * @param equal whether all datacenters gave the same digests in time
 * @param seconds until they gave the same digests
 * @param fewest by keyspace without expiring parts, the number of objects at the datacenter that
 *     shows the fewest
 * @param different keys whose values differ between datacenters
 * @param missing acknowledged updates that are not there, at the datacenter that lacks the most
 * @param surplus updates that are there more often than they were made, likewise
 * @param acknowledged updates of the loads
 * @param failed updates of the loads that failed or whose outcome is unknown
 */
public record Contents(
    boolean equal,
    double seconds,
    Map<String, Long> fewest,
    Set<Key> different,
    long missing,
    long surplus,
    long acknowledged,
    long failed) {
  private static final int PAGE_ROWS = 1_000;

  /**
   * Waits until all datacenters give the same digests, and then reads all their objects.
   *
   * @param say is given a line now and then while the datacenters are not equal
   * @param loads the loads that wrote to the datacenters; they are stopped
   */
  public static Contents of(
      Fleet fleet, Duration atMost, Consumer<String> say, List<? extends WriterLoad> loads) {
    long began = System.nanoTime();
    boolean equal = fleet.awaitEqual(atMost, say);
    double seconds = (System.nanoTime() - began) / 1e9;
    Set<String> keyspaces = new TreeSet<>();
    Set<String> expiring = new HashSet<>();
    loads.forEach(
        load -> {
          keyspaces.addAll(load.keyspaces());
          expiring.addAll(load.expiring());
        });
    long missing = 0;
    long surplus = 0;
    Map<String, Long> fewest = new HashMap<>();
    Map<String, Set<Keyspace.Row>> first = new HashMap<>();
    Set<Key> different = new TreeSet<>();
    for (String dc : fleet.dcs()) {
      long sinceMillis = System.currentTimeMillis();
      Map<String, List<Keyspace.Row>> there = new HashMap<>();
      try (OsierClient client = fleet.only(dc)) {
        keyspaces.forEach(name -> there.put(name, rows(client.session().keyspace(name))));
      }
      there.forEach(
          (name, rows) -> {
            if (expiring.contains(name)) {
              return;
            }
            fewest.merge(name, (long) rows.size(), Math::min);
            Set<Keyspace.Row> own = new HashSet<>(rows);
            Set<Keyspace.Row> others = first.computeIfAbsent(name, n -> own);
            own.stream().filter(r -> !others.contains(r)).forEach(r -> different.add(r.key()));
            others.stream().filter(r -> !own.contains(r)).forEach(r -> different.add(r.key()));
          });
      WriterLoad.Audit audit = WriterLoad.Audit.RIGHT;
      for (WriterLoad load : loads) {
        audit = audit.plus(load.audit(there, sinceMillis));
      }
      missing = Math.max(missing, audit.missing());
      surplus = Math.max(surplus, audit.surplus());
    }
    return new Contents(
        equal,
        seconds,
        fewest,
        different,
        missing,
        surplus,
        loads.stream().mapToLong(WriterLoad::done).sum(),
        loads.stream().mapToLong(WriterLoad::failures).sum());
  }

  /** Reads all of a keyspace, page by page. */
  public static List<Keyspace.Row> rows(Keyspace keyspace) {
    List<Keyspace.Row> rows = new ArrayList<>();
    Optional<Key> from = Optional.empty();
    do {
      Keyspace.Page page = keyspace.scan(from, Optional.empty(), new Query.Whole(), PAGE_ROWS);
      rows.addAll(page.rows());
      from = page.next();
    } while (from.isPresent());
    return rows;
  }

  /** Returns how many objects were compared. */
  public long objects() {
    return fewest.values().stream().mapToLong(n -> n).sum();
  }

  /**
   * Returns the faults that were found, a line each.
   *
   * @param forgets whether datacenters may lack acknowledged updates, if all lack the same
   */
  public List<String> faults(boolean forgets) {
    List<String> faults = new ArrayList<>();
    if (!equal) {
      faults.add("the datacenters did not become equal");
    }
    if (!different.isEmpty()) {
      faults.add(
          different.size() + " objects differ, such as " + different.stream().limit(10).toList());
    }
    if (missing > 0 && !forgets) {
      faults.add(missing + " acknowledged updates are missing");
    }
    if (surplus > 0 && !forgets) {
      faults.add(surplus + " updates are there too often");
    }
    if (!fewest.isEmpty() && acknowledged == 0) {
      faults.add("no update was acknowledged, so none could be missing");
    }
    fewest.forEach(
        (keyspace, objects) -> {
          if (objects == 0) {
            faults.add("a datacenter shows nothing in the keyspace " + keyspace);
          }
        });
    return faults;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%d acknowledged updates, %d failed or unknown, %d missing, %d surplus, datacenters %s"
            + " after %.1f s",
        acknowledged,
        failed,
        missing,
        surplus,
        equal && different.isEmpty() ? "equal" : "NOT EQUAL",
        seconds);
  }
}
