package io.osier.datacenter.frontend;

import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Does clients' requests. Thread-safe. */
public interface ClientService {
  /** Returns the keyspaces that clients are told to use here. */
  List<Reply.KeyspaceInfo> keyspaces();

  /** Returns the keyspaces that others hold, as clients are told them. */
  default Reply.Elsewhere elsewhere() {
    return Reply.Elsewhere.NOTHING;
  }

  /** Returns both, as of one moment. */
  default Reply.Keyspaces told() {
    return new Reply.Keyspaces(keyspaces(), elsewhere());
  }

  /**
   * Returns the answer about keyspaces while there may be others than those, as after a start, when
   * a datacenter first hears from the others; empty if there are none.
   */
  default Optional<Reply.Failure> mayLackKeyspaces() {
    return Optional.empty();
  }

  /** Returns the keyspaces that are held here and stay so, whatever the load on them is. */
  default List<Reply.KeyspaceInfo> settled() {
    return keyspaces();
  }

  /** Returns all keyspaces that requests may be about, those that others hold included. */
  default List<Reply.KeyspaceInfo> served() {
    Reply.Keyspaces told = told();
    return Reply.Elsewhere.all(told.keyspaces(), told.elsewhere());
  }

  /** Returns what clients were shown of a partition that others hold, or held. */
  default VersionVector shown(String keyspace, int partition) {
    return VersionVector.EMPTY;
  }

  /** Returns how the keys of a keyspace are divided; empty if there is no such keyspace. */
  default Optional<Partitioning> partitioning(String keyspace) {
    return served().stream()
        .filter(k -> k.name().equals(keyspace))
        .map(Reply.KeyspaceInfo::partitioning)
        .findFirst();
  }

  /**
   * Does a request.
   *
   * @param lane keeps the order of the requests of the client's connection
   * @param reply takes the answer, or a failure, once, now or later, by any thread
   */
  void handle(Request request, OrderedQueue lane, Consumer<Reply> reply);

  /**
   * Does a request of a user, whose rights are checked where it is done, which may be another
   * datacenter.
   *
   * @param user has the rights here; empty for this process itself
   */
  default void handle(Request request, OrderedQueue lane, String user, Consumer<Reply> reply) {
    handle(request, lane, reply);
  }

  /**
   * Runs what follows several requests that came together, so that one commit writes their changes.
   */
  default void together(Runnable follows) {
    follows.run();
  }

  /**
   * Does an administrator's request, which may change something for all datacenters.
   *
   * @param by the user that asks
   */
  void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply);

  /** Returns whether a keyspace is held here. */
  default boolean holds(String keyspace) {
    return true;
  }

  /**
   * Returns an identity of a keyspace, which differs from that of earlier and later keyspaces of
   * its name; null if there is no such keyspace.
   */
  default @Nullable Object life(String keyspace) {
    return "";
  }

  /**
   * Adds a listener for all changes of a keyspace: it is told at once if the keyspace is held here
   * (see {@link KeyspaceFeed#listen}), otherwise as soon as a holder has told them.
   *
   * @return whether it is told of all changes from now on; true if there is no such keyspace
   * @throws OsierException UNAVAILABLE if no holder is in reach; it will be told once one is
   */
  default boolean listen(String keyspace, ChangeListener hears) {
    return true;
  }

  /**
   * Called when users or rights have changed: requests that wait for long are answered, so that
   * their rights are checked again.
   */
  default void usersChanged() {}
}
