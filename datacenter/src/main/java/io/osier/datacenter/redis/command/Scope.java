package io.osier.datacenter.redis.command;

/**
 * The surroundings of a command that are needed to translate it. Immutable.
 *
 * @param database the database that the connection has selected
 * @param millis the present time, in milliseconds since 1970
 * @param seed the seed for random draws
 * @param resp3 whether the client understands RESP3
 * @param cursors the places at which walks through sets and hashes go on
 */
public record Scope(Database database, long millis, long seed, boolean resp3, Cursors cursors) {
  /** Returns a scope with another seed, for the nth command of a transaction. */
  public Scope drawing(int n) {
    return new Scope(database, millis, seed + n * 0x9e3779b97f4a7c15L, resp3, cursors);
  }
}
