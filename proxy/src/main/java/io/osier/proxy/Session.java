package io.osier.proxy;

import io.osier.core.OsierException;
import io.osier.core.Present;
import io.osier.core.ReplicaId;
import io.osier.proxy.call.KeyspaceAccess;
import io.osier.proxy.call.UpdatesAtOnce;
import io.osier.proxy.client.ClientCore;
import io.osier.proxy.session.SessionCore;
import io.osier.proxy.transaction.Transactions;
import java.util.List;
import java.util.Optional;

/**
 * A sequence of reads and writes that belong together, with the four session guarantees: read your
 * writes, monotonic reads, monotonic writes, writes follow reads. They hold in each partition of a
 * keyspace, at whatever datacenters the requests are served. Cheap; thread-safe.
 *
 * <p>For each partition the session joins the version vectors of all answers that it has seen. The
 * first request to another datacenter, or to a new incarnation of the same one, carries this
 * vector, and is answered once the datacenter has received all that the vector covers; after that
 * the datacenter's own order suffices.
 */
public final class Session {
  private final UpdatesAtOnce atOnce;
  private final SessionCore core;
  private final Transactions transactions;

  Session(ClientCore client, SessionOptions options) {
    this.core = new SessionCore(client, options.patience());
    this.atOnce = new UpdatesAtOnce(core);
    this.transactions = new Transactions(core);
    options.past().ifPresent(this::join);
    options.datacenter().ifPresent(this::pin);
  }

  /** Returns the keyspace of that name; the first request shows whether it exists. */
  public Keyspace keyspace(String name) {
    return new Keyspace(
        new KeyspaceAccess(core, atOnce, Present.present(name, "a keyspace's name")), transactions);
  }

  /** Returns the datacenter that served this session last; empty before the first request. */
  public Optional<String> datacenter() {
    return core.past().datacenter();
  }

  /**
   * Forgets what this session has seen, so that it starts anew, without guarantees about earlier
   * reads and writes. Updates that are under way count as earlier: a read that is called after this
   * may not show them.
   */
  public void forget() {
    core.past().forget();
    core.cache().clear();
  }

  /**
   * Updates that the session has seen, or that an update that it has seen depends on, and that it
   * no longer waits for: those of one replica with numbers above {@code after}, up to {@code
   * through}. The datacenter where the session went on did not have all of them.
   *
   * @param replica the datacenter and incarnation that made the updates
   * @param after the commit number before the first missing update
   * @param through the largest commit number of these updates that the session had seen
   */
  public record Loss(String keyspace, int partition, ReplicaId replica, long after, long through) {}

  /**
   * Returns what the session went on without, if its options allow that; updates that arrive later
   * are seen all the same.
   */
  public List<Loss> losses() {
    return core.past().losses();
  }

  /**
   * Sends all further requests to one datacenter, until {@link #unpin}. While that datacenter
   * cannot be reached, requests wait for it and then fail with UNAVAILABLE, instead of going
   * elsewhere. If the session was at another datacenter before, its first request waits until this
   * one has received what the session has seen. Requests under way are not affected.
   *
   * @param endpoint the name of an endpoint of the client
   * @throws OsierException INVALID_ARGUMENT if the client has no endpoint of that name
   */
  public void pin(String endpoint) {
    core.pin(endpoint);
  }

  /** Sends requests to the nearest datacenter again, and to others if it is lost. */
  public void unpin() {
    core.unpin();
  }

  /**
   * Returns what this session has seen so far in all keyspaces, for a session in another process
   * that must see at least as much ({@link SessionOptions#after}). It does not cover calls that
   * have not been answered. With an embedded datacenter the call waits until all acknowledged
   * updates are committed.
   *
   * @throws OsierException if the embedded datacenter does not answer
   */
  public SessionToken token() {
    atOnce.seeAcknowledged();
    return new SessionToken(core.past().seen());
  }

  /**
   * Adds a token to what this session has seen: from now on it sees at least as much as the other
   * session had seen when the token was taken.
   *
   * @throws OsierException INVALID_ARGUMENT if the token is evidently of another cluster: a
   *     keyspace has another number of partitions
   */
  public void join(SessionToken token) {
    core.past().join(token.seen());
    core.cache().clear();
  }
}
