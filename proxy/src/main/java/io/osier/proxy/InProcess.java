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
 * A datacenter in the client's own process, to which {@link OsierClient#inProcess} connects. The
 * datacenter implements this; applications use {@code EmbeddedDatacenter}. Thread-safe.
 */
public interface InProcess {
  /** Returns the datacenter's identity. */
  ReplicaId replica();

  /** Returns the keyspaces that the datacenter holds. */
  List<Reply.KeyspaceInfo> keyspaces();

  /** Returns a keyspace; null if the datacenter holds none of that name. */
  default Reply.@Nullable KeyspaceInfo keyspace(String name) {
    return keyspaces().stream().filter(k -> k.name().equals(name)).findFirst().orElse(null);
  }

  /** Returns whether the datacenter has not been closed. */
  boolean isOpen();

  /**
   * Carries out a request.
   *
   * @param reply takes the answer, exactly once: in the calling thread before this returns, or
   *     later in another one; an error is an answer, too
   */
  void send(Request request, Consumer<Reply> reply);

  /**
   * Returns whether each answer that does not come before {@link #send} returns is delivered by a
   * thread that has no other work, so that callbacks may wait for further answers.
   */
  default boolean answersApart() {
    return false;
  }

  /**
   * Does an update at once in the calling thread, if it is of a kind that needs no answer of the
   * partition.
   *
   * @return whether the update is acknowledged; if not, nothing was done, and it must be sent as a
   *     request
   */
  boolean update(String keyspace, Key key, CrdtType type, Operation operation);
}
