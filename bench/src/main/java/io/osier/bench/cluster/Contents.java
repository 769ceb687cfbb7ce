package io.osier.bench.cluster;

import io.osier.core.Key;
import io.osier.crdt.Query;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * What every datacenter of a cluster shows of a keyspace, row by row.
 *
 * @param rows of each datacenter, in the cluster's order
 * @param different keys at which not all show the same, sorted
 */
public record Contents(List<List<Keyspace.Row>> rows, List<Key> different) {
  private static final int PAGE_ROWS = 1_000;

  /** Reads all of it, at all datacenters. */
  public static Contents of(LocalCluster cluster, String keyspace) {
    List<List<Keyspace.Row>> all = new ArrayList<>();
    for (String dc : cluster.dcs()) {
      try (OsierClient client = cluster.only(dc)) {
        all.add(rows(client.session().keyspace(keyspace)));
      }
    }
    Set<Keyspace.Row> union = new HashSet<>();
    all.forEach(union::addAll);
    Set<Key> odd = new HashSet<>();
    for (List<Keyspace.Row> rows : all) {
      Set<Keyspace.Row> own = new HashSet<>(rows);
      union.stream().filter(r -> !own.contains(r)).forEach(r -> odd.add(r.key()));
    }
    return new Contents(all, odd.stream().sorted().toList());
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

  /**
   * Waits until all datacenters give the same digests.
   *
   * @param say is told now and then that it takes long
   * @return whether they did within the time
   */
  public static boolean awaitEqual(LocalCluster cluster, Duration atMost, Consumer<String> say) {
    return cluster.fleet().awaitEqual(atMost, say);
  }
}
