package io.osier.datacenter.redis.command;

import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import java.util.List;

/**
 * A keyspace that a connection can select by a number. Immutable.
 *
 * @param keyspace a keyspace without homes, one home of a keyspace, or the default home, which
 *     stands for all homes
 * @param partitioning the keyspace's partitions and homes
 */
public record Database(String keyspace, Partitioning partitioning) {
  /**
   * Where a key is stored: the keyspace, which is a home if there are homes, and the partition in
   * it.
   */
  public record Place(String keyspace, int partition) {}

  /**
   * Returns the keyspace of a key: its home, if the database stands for all homes.
   *
   * @throws OsierException INVALID_ARGUMENT if the database is one home, and the key belongs to
   *     another
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

  /** Returns where a key is stored; fails as {@link #keyspace(Key)} does. */
  public Place place(Key key) {
    return new Place(keyspace(key), partitioning.of(key));
  }

  /** Returns whether all possible keys are in one partition of one home. */
  public boolean isOnePlace() {
    return partitioning.count() == 1 && partitioning.homes().isEmpty();
  }

  /**
   * Returns the keyspaces of all its keys: its homes, the default home first, or the one keyspace.
   */
  public List<String> keyspaces() {
    return partitioning.homes().keyspaces(keyspace);
  }

  /** Returns {@link #keyspaces}, each as a database of its own. */
  public List<Database> homes() {
    return keyspaces().stream().map(home -> new Database(home, partitioning)).toList();
  }
}
