package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Does what clients ask for. Thread-safe. */
public interface ClientService {
  /** What clients must know of the keyspaces that are here. */
  List<Reply.KeyspaceInfo> keyspaces();

  /** What they are told of those that others hold. */
  default Reply.Elsewhere elsewhere() {
    return Reply.Elsewhere.NOTHING;
  }

  /** Both, of one moment. */
  default Reply.Keyspaces told() {
    return new Reply.Keyspaces(keyspaces(), elsewhere());
  }

  /** What is said where {@link #knowsKeyspaces} is false. */
  Reply.Failure NOT_KNOWN =
      new Reply.Failure(
          ErrorCode.UNAVAILABLE,
          "which keyspaces there are is not known here before all other datacenters were heard");

  /**
   * Whether there are no others than those: after a start the other datacenters are heard first.
   */
  default boolean knowsKeyspaces() {
    return true;
  }

  /** Those that are here, whatever is asked of them. */
  default List<Reply.KeyspaceInfo> settled() {
    return keyspaces();
  }

  /** Those that requests may be about: also those that others hold. */
  default List<Reply.KeyspaceInfo> served() {
    Reply.Keyspaces told = told();
    return Reply.Elsewhere.all(told.keyspaces(), told.elsewhere());
  }

  /** What clients were shown of a partition that others hold, or held. */
  default VersionVector shown(String keyspace, int partition) {
    return VersionVector.EMPTY;
  }

  /** How the keys of a keyspace are divided; empty if there is none of that name. */
  default Optional<Partitioning> partitioning(String keyspace) {
    return served().stream()
        .filter(k -> k.name().equals(keyspace))
        .map(Reply.KeyspaceInfo::partitioning)
        .findFirst();
  }

  /**
   * Does a request.
   *
   * @param lane in which order the client's requests come
   * @param reply takes the answer, which may be a failure, now or later
   */
  void handle(Request request, OrderedQueue lane, Consumer<Reply> reply);

  /**
   * The same for a user, whose rights count where it is done: it may be elsewhere.
   *
   * @param user who may do it here
   */
  default void handle(Request request, OrderedQueue lane, String user, Consumer<Reply> reply) {
    handle(request, lane, reply);
  }

  /**
   * Runs what follows several requests that came together, so that what they change is written
   * together.
   */
  default void together(Runnable follows) {
    follows.run();
  }

  /**
   * Changes what holds for all datacenters.
   *
   * @param by the user who asks
   */
  void administer(Request.Administer request, String by, Consumer<Reply> reply);

  /** Whether a keyspace is held here. */
  default boolean holds(String keyspace) {
    return true;
  }

  /**
   * What tells a keyspace from others of its name, before or after it, as far as it is known here;
   * null if there is none of that name.
   */
  default @Nullable Object life(String keyspace) {
    return "";
  }

  /**
   * Somebody hears of all changes of a keyspace: of one that is held here at once (see {@link
   * KeyspaceFeed#listen}), otherwise as soon as a holder has told.
   *
   * @return whether it does already; also where there is no such keyspace
   * @throws OsierException UNAVAILABLE if no holder is in reach; it will hear once one is
   */
  default boolean listen(String keyspace, ChangeListener hears) {
    return true;
  }

  /** Other users, or rights: whoever waits long for an answer must ask again. */
  default void usersChanged() {}
}
