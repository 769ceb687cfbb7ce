package io.osier.datacenter.redis.command;

import io.osier.core.Key;
import io.osier.core.OsierException;

/**
 * What a command is translated with.
 *
 * @param database the one that the connection has selected
 * @param millis the present time, in milliseconds since 1970
 * @param seed for what is drawn
 * @param resp3 whether the client understands RESP3
 * @param cursors where walks through sets and hashes go on
 */
public record Scope(Database database, long millis, long seed, boolean resp3, Cursors cursors) {
  /** The same, whose nth command draws otherwise. */
  public Scope drawing(int n) {
    return new Scope(database, millis, seed + n * 0x9e3779b97f4a7c15L, resp3, cursors);
  }

  /**
   * The keyspace of a key.
   *
   * @throws OsierException INVALID_ARGUMENT if it is not in the database
   */
  public String keyspace(Key key) {
    return database.keyspace(key);
  }

  /** Where a key is; fails as {@link #keyspace} does. */
  public Database.Place place(Key key) {
    return database.place(key);
  }

  /** Whether all keys there can be are in one place. */
  public boolean isOnePlace() {
    return database.isOnePlace();
  }
}
