package io.osier.datacenter.redis.command;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import java.util.List;

/**
 * A keyspace that a connection can select. Immutable.
 *
 * @param keyspace one without homes, a home of one, or the default home, which stands for all
 * @param partitioning its partitions, and its homes
 */
public record Database(String keyspace, Partitioning partitioning) {
  /** Where a key is: in which keyspace, which is a home where there are some, and there. */
  public record Place(String keyspace, int partition) {}

  /**
   * The keyspace that a key is in: where all homes are meant, the key's home.
   *
   * @throws OsierException INVALID_ARGUMENT if the database is one home, and not the key's
   */
  public String keyspace(Key key) {
    Homes homes = partitioning.homes();
    if (homes.isEmpty()) {
      return keyspace;
    }
    if (Homes.isHome(keyspace)) {
      homes.check(keyspace, key);
      return keyspace;
    }
    return homes.keyspace(keyspace, key);
  }

  /** Where a key is; fails as {@link #keyspace(Key)} does. */
  Place place(Key key) {
    return new Place(keyspace(key), partitioning.of(key));
  }

  /** Whether all keys there can be are in one place. */
  boolean isOnePlace() {
    return partitioning.count() == 1 && partitioning.homes().isEmpty();
  }

  /** The keyspaces of all its keys: the default home first where there are several. */
  public List<String> keyspaces() {
    return partitioning.homes().keyspaces(keyspace);
  }

  /** The same, each as a database of its own. */
  public List<Database> homes() {
    return keyspaces().stream().map(home -> new Database(home, partitioning)).toList();
  }
}
