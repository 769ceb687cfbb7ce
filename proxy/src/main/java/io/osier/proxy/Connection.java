package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A client's connection to one datacenter: over the network, within the process, or a test's
 * ({@link SteppedClient}). It reconnects by itself. Thread-safe.
 */
public interface Connection {
  /** Starts to connect. The client is told whenever {@link #isUp} changes. */
  void open();

  /** Returns the endpoint's name. */
  String dc();

  /** Returns the datacenter's own name; the endpoint's name until the first connection. */
  default String name() {
    ReplicaId replica = replica();
    return replica == null ? dc() : replica.dc();
  }

  /** Returns whether requests can be sent. */
  boolean isUp();

  /**
   * Returns the datacenter's identity as the present connection told it; null if there was never a
   * connection. Each new connection yields a new object, even to the same process.
   */
  @Nullable ReplicaId replica();

  /**
   * Returns the keyspaces that the datacenter holds, as it told last; empty if there was never a
   * connection.
   */
  List<Reply.KeyspaceInfo> keyspaceList();

  /** Returns what the datacenter told last of keyspaces that other datacenters hold. */
  default Reply.Elsewhere elsewhere() {
    return Reply.Elsewhere.NOTHING;
  }

  /**
   * Asks the datacenter for its present keyspaces; {@link #keyspaceList} returns them once the
   * answer has come.
   *
   * @return completes with the answer; fails with a {@link LostException} if there is none, and
   *     with an {@link OsierException} if the datacenter refuses
   */
  CompletableFuture<Void> refreshKeyspaces(long timeoutMillis);

  /**
   * Returns the names of all keyspaces that the datacenter knows, held there or elsewhere, in
   * order.
   */
  default List<String> allKeyspaces() {
    return Stream.concat(
            keyspaceList().stream(),
            elsewhere().keyspaces().stream().map(Reply.HeldElsewhere::keyspace))
        .map(Reply.KeyspaceInfo::name)
        .sorted()
        .toList();
  }

  /** Returns a keyspace; null if the datacenter holds none of that name. */
  default Reply.@Nullable KeyspaceInfo keyspace(String name) {
    for (Reply.KeyspaceInfo k : keyspaceList()) {
      if (k.name().equals(name)) {
        return k;
      }
    }
    return null;
  }

  /** Returns what the datacenter told of a keyspace, held there or elsewhere; null if nothing. */
  default Reply.@Nullable KeyspaceInfo told(String keyspace) {
    Reply.KeyspaceInfo held = keyspace(keyspace);
    return held != null
        ? held
        : elsewhere().find(keyspace).map(Reply.HeldElsewhere::keyspace).orElse(null);
  }

  /**
   * Sends a request. The future fails with {@link LostException} if no answer comes.
   *
   * @param timeoutMillis how long to wait for the answer, in milliseconds
   */
  CompletableFuture<Reply> send(Request request, long timeoutMillis);

  /**
   * Is told the outcome of a request: one of {@link #answered} and {@link #lost} is called, once.
   */
  interface Answered {
    /** Returns one that completes a future, and wants the answer until the future is done. */
    static Answered of(CompletableFuture<Reply> reply) {
      return new Answered() {
        @Override
        public void answered(Reply answer) {
          reply.complete(answer);
        }

        @Override
        public void lost(LostException cause) {
          reply.completeExceptionally(cause);
        }

        @Override
        public boolean begins() {
          return isWanted();
        }

        @Override
        public boolean isWanted() {
          return !reply.isDone();
        }
      };
    }

    /** An answer came; it may be an error reply. */
    void answered(Reply reply);

    /** No answer came, and none will. */
    void lost(LostException cause);

    /**
     * Called just before the request is sent.
     *
     * @return false if its caller no longer wants it: then it is not sent, but {@link #lost}
     */
    default boolean begins() {
      return true;
    }

    /**
     * Returns whether the caller still waits for the answer; otherwise the connection may report it
     * as lost.
     */
    default boolean isWanted() {
      return true;
    }

    /** Takes an action that the caller runs once it no longer waits for the answer. */
    default void endsBy(Runnable end) {}
  }

  /**
   * Sends a request.
   *
   * @param nowNanos the time, by the client's {@link Timers}
   * @param deadlineNanos when to give up waiting for the answer, by the same clock
   * @param answered is asked whether to send the request, and is told its outcome: in the calling
   *     thread before this returns, or later in another thread
   */
  default void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    if (!answered.begins()) {
      answered.lost(isNotWanted(false));
      return;
    }
    CompletableFuture<Reply> sent =
        send(request, Math.max(1, (deadlineNanos - nowNanos) / 1_000_000));
    if (!sent.isDone()) {
      answered.endsBy(() -> sent.completeExceptionally(isNotWanted(true)));
    }
    sent.whenComplete(
        (reply, error) -> {
          if (error == null) {
            answered.answered(reply);
          } else {
            answered.lost((LostException) error);
          }
        });
  }

  /** Returns the error of a request whose caller no longer waits for the answer. */
  static LostException isNotWanted(boolean sent) {
    return new LostException(ErrorCode.CANCELLED, sent, "the caller cancelled the request");
  }

  /**
   * As {@link #send(Request, long, long, Answered)}, but only over the connection that {@code to}
   * stands for. If a new connection has replaced it meanwhile, nothing is sent, and the request is
   * lost.
   *
   * @param to the object that {@link #replica} returned, compared by identity
   */
  @SuppressWarnings("ReferenceEquality")
  default void send(
      ReplicaId to, Request request, long nowNanos, long deadlineNanos, Answered answered) {
    if (to == replica()) {
      send(request, nowNanos, deadlineNanos, answered);
    } else {
      answered.lost(isGone(to));
    }
  }

  /** Returns the error of a request that was not sent, because its connection is gone. */
  static LostException isGone(ReplicaId process) {
    return new LostException(
        ErrorCode.UNAVAILABLE, false, process.dc() + " was connected anew before it could be sent");
  }

  /**
   * Does an update at once in the calling thread, where the datacenter is in the process and needs
   * no request for it.
   *
   * @return whether the update is done; otherwise nothing was done, and a request must be sent
   */
  default boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return false;
  }

  /**
   * Measures the round trip; gives the connection up if the datacenter has been silent for too
   * long.
   */
  void ping();

  /** Returns the measured round trip, in nanoseconds; NaN if it was not measured yet. */
  double roundTripNanos();

  /** Returns why the datacenter refuses this client; null if it does not. */
  @Nullable OsierException refused();

  /** Returns why the connection is not up, in words; null if it is, or if nothing is known yet. */
  @Nullable String trouble();

  /** Returns how many requests wait for their answers. */
  int inFlight();

  /** Closes the connection for good; requests without an answer fail. */
  void close();
}
