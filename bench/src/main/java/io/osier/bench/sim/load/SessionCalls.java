package io.osier.bench.sim.load;

import java.util.concurrent.CompletableFuture;

/** How the calls of a {@link SimSession} reach a datacenter. Used by the simulation's thread. */
interface SessionCalls {
  /**
   * Sends a call.
   *
   * @param number counts the session's calls
   * @return completes with a {@code Keyspace.Found} for a read or an update that asks something,
   *     with whether the condition held for an update that has one, and with anything for other
   *     updates; fails with an OsierException
   */
  CompletableFuture<?> send(SessionCall call, long number);

  /**
   * Moves the session to any datacenter, by choice or because its datacenter has refused a call.
   */
  void move();

  /** Forgets what the session has seen, because a datacenter has lost it. */
  void forget();
}
