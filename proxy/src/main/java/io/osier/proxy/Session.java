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
 * A sequence of reads and writes that belong together and for which the four session guarantees
 * hold: read your writes, monotonic reads, monotonic writes, writes follow reads, in each partition
 * of a keyspace, wherever the requests go. Cheap; thread-safe.
 *
 * <p>How: for each partition the session joins the version vectors of all that it has seen. The
 * first request that goes to another datacenter, or to a new incarnation of the same one, carries
 * that vector, and is answered once the datacenter covers it; from then on the datacenter's own
 * order suffices.
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

  /** The keyspace of that name. Whether it exists is seen at the first request. */
  public Keyspace keyspace(String name) {
    return new Keyspace(
        new KeyspaceAccess(core, atOnce, Present.present(name, "a keyspace's name")), transactions);
  }

  /** The datacenter that served this session last; empty before the first request. */
  public Optional<String> datacenter() {
    return core.past().datacenter();
  }

  /**
   * Forgets what this session has seen: it starts anew, without guarantees about what came before.
   * Updates that are under way belong to that: a read that is called after this may not show them.
   */
  public void forget() {
    core.past().forget();
    core.cache().clear();
  }

  /**
   * What the session has given up.
   *
   * @param after of this replica's updates with larger numbers, …
   * @param through … up to this one, the session had seen some, or what depends on them, and the
   *     datacenter where it went on did not have them all
   */
  public record Loss(String keyspace, int partition, ReplicaId replica, long after, long through) {}

  /** What it has gone on without, if its options let it; what comes later is seen all the same. */
  public List<Loss> losses() {
    return core.past().losses();
  }

  /**
   * Lets all further requests go to one datacenter, now and as long as it is pinned: while that
   * cannot be reached they wait, and fail with UNAVAILABLE, instead of going elsewhere. Coming from
   * another one, the first request waits there for what this session has seen; requests that are
   * under way are not touched. So a session moves by choice.
   *
   * @param endpoint the name of an endpoint of the client
   * @throws OsierException INVALID_ARGUMENT if there is none of that name
   */
  public void pin(String endpoint) {
    core.pin(endpoint);
  }

  /** Lets requests go to the nearest datacenter again, and elsewhere if need be. */
  public void unpin() {
    core.unpin();
  }

  /**
   * What this session has seen so far, of all keyspaces: for a session in another process that must
   * see as much ({@link SessionOptions#after}). Calls that have not been answered are not in it. In
   * an embedded datacenter it waits until what was acknowledged is committed.
   *
   * @throws OsierException if the embedded datacenter does not answer
   */
  public SessionToken token() {
    atOnce.seeAcknowledged();
    return new SessionToken(core.past().seen());
  }

  /**
   * Adds to what this session has seen: from now on it sees at least as much as another one had
   * when the token was taken.
   *
   * @throws OsierException INVALID_ARGUMENT if the token is of another cluster, as far as that can
   *     be told: a keyspace had another number of partitions
   */
  public void join(SessionToken token) {
    core.past().join(token.seen());
    core.cache().clear();
  }
}
