package io.osier.datacenter.redis.command;

import io.osier.core.Homes;
import io.osier.core.Key;
import java.util.function.ToIntFunction;

/**
 * What a command is translated with.
 *
 * @param keyspace the one that the connection has selected
 * @param partition which of its partitions has a key
 * @param partitions how many it has
 * @param homes its homes, of which it is one
 * @param millis the present time, in milliseconds since 1970
 * @param seed for what is drawn
 * @param resp3 whether the client understands RESP3
 * @param cursors where walks through sets and hashes go on
 */
public record Scope(
    String keyspace,
    ToIntFunction<Key> partition,
    int partitions,
    Homes homes,
    long millis,
    long seed,
    boolean resp3,
    Cursors cursors) {
  /** The same, whose nth command draws otherwise. */
  public Scope drawing(int n) {
    return new Scope(
        keyspace,
        partition,
        partitions,
        homes,
        millis,
        seed + n * 0x9e3779b97f4a7c15L,
        resp3,
        cursors);
  }
}
