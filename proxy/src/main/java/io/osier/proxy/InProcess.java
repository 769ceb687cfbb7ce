package io.osier.proxy;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A datacenter in the client's own process, as {@link OsierClient#inProcess} uses it. Implemented
 * by the datacenter; applications use its {@code EmbeddedDatacenter}. Thread-safe.
 */
public interface InProcess {
  /** Who it is. */
  ReplicaId replica();

  /** Its keyspaces. */
  List<Reply.KeyspaceInfo> keyspaces();

  /** One of them; null if there is none of that name. */
  default Reply.@Nullable KeyspaceInfo keyspace(String name) {
    return keyspaces().stream().filter(k -> k.name().equals(name)).findFirst().orElse(null);
  }

  /** Whether it has not been closed. */
  boolean isOpen();

  /**
   * Does a request.
   *
   * @param reply takes the answer, exactly once: in the calling thread before this returns, or
   *     later in another one; failures are answers, too
   */
  void send(Request request, Consumer<Reply> reply);

  /**
   * Whether each answer that comes later is brought by a thread of its own, whom nobody waits for:
   * then whoever is told of it may wait for another one.
   */
  default boolean answersApart() {
    return false;
  }

  /**
   * Does an update at once if it is of a kind that needs no answer of the partition.
   *
   * @return whether it is acknowledged; if not, nothing was done and it must be sent as a request
   */
  boolean update(String keyspace, Key key, CrdtType type, Operation operation);
}
