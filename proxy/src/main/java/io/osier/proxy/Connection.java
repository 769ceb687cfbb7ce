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
 * The way to one datacenter: one over the network, one within the process, or a test's ({@link
 * SteppedClient}). Thread-safe.
 */
public interface Connection {
  /** Starts to connect; changes of {@link #isUp} are told to the client. */
  void open();

  /** The endpoint's name. */
  String dc();

  /** The datacenter's own name; the endpoint's while nothing else is known. */
  default String name() {
    ReplicaId replica = replica();
    return replica == null ? dc() : replica.dc();
  }

  /** Whether requests can be sent. */
  boolean isUp();

  /**
   * Who is there, as the present connection has told; null if never connected. Each connection to a
   * process has an object of its own.
   */
  @Nullable ReplicaId replica();

  /** The keyspaces that the datacenter holds, as it said; none if never connected. */
  List<Reply.KeyspaceInfo> keyspaceList();

  /** What it said of those that others hold. */
  default Reply.Elsewhere elsewhere() {
    return Reply.Elsewhere.NOTHING;
  }

  /**
   * Asks which keyspaces there are now; {@link #keyspaceList} tells it once that is answered.
   *
   * @return fails with a {@link LostException} if there is no answer, and with an {@link
   *     OsierException} if it is refused
   */
  CompletableFuture<Void> refreshKeyspaces(long timeoutMillis);

  /** The names of all that it knows, here and elsewhere, in their order. */
  default List<String> allKeyspaces() {
    return Stream.concat(
            keyspaceList().stream(),
            elsewhere().keyspaces().stream().map(Reply.HeldElsewhere::keyspace))
        .map(Reply.KeyspaceInfo::name)
        .sorted()
        .toList();
  }

  /** A keyspace; null if the datacenter has none of that name. */
  default Reply.@Nullable KeyspaceInfo keyspace(String name) {
    for (Reply.KeyspaceInfo k : keyspaceList()) {
      if (k.name().equals(name)) {
        return k;
      }
    }
    return null;
  }

  /**
   * Sends a request. The future fails with {@link LostException} if no answer comes.
   *
   * @param timeoutMillis how long to wait for the answer
   */
  CompletableFuture<Reply> send(Request request, long timeoutMillis);

  /** Hears what became of a request: one of the two, once. */
  interface Answered {
    /** An answer came, which may be a failure. */
    void answered(Reply reply);

    /** No answer has come, and none will. */
    void lost(LostException cause);

    /**
     * Asked just before it is sent.
     *
     * @return false if nobody wants it any more: it is not sent then, and lost
     */
    default boolean begins() {
      return true;
    }

    /** Whether somebody waits for the answer; once that is not so, it may be given up as lost. */
    default boolean isWanted() {
      return true;
    }

    /** Takes what the caller runs to stop waiting for an answer that it no longer wants. */
    default void endsBy(Runnable end) {}
  }

  /**
   * Sends a request.
   *
   * @param nowNanos the time, by the client's {@link Timers}
   * @param deadlineNanos when to give up waiting for the answer
   * @param answered is asked whether it is still to be sent, and hears what became of it: in the
   *     calling thread before this returns, or later in another one
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

  /** That nobody waits for an answer any more. */
  static LostException isNotWanted(boolean sent) {
    return new LostException(ErrorCode.CANCELLED, sent, "it was given up");
  }

  /**
   * As {@link #send(Request, long, long, Answered)}, over one connection to one process alone:
   * another one may have taken its place since {@link #replica} told it. Then nothing is sent, and
   * there is no answer.
   *
   * @param to what {@link #replica} has told: the same object, which each connection has anew
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

  /** That a request was not sent, because the connection that it was made for is gone. */
  static LostException isGone(ReplicaId process) {
    return new LostException(
        ErrorCode.UNAVAILABLE, false, process.dc() + " was connected anew before it could be sent");
  }

  /**
   * Does an update at once, by the calling thread, if that can be done without a request.
   *
   * @return whether it is done; otherwise nothing was, and a request must be sent
   */
  default boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
    return false;
  }

  /** Measures the way there and back; a silent datacenter is given up. */
  void ping();

  /** The measured way there and back, in nanoseconds; NaN if not measured yet. */
  double roundTripNanos();

  /** Why the datacenter refuses this client, or null. */
  @Nullable OsierException refused();

  /** Why it is not up, in words; null if it is, or if nothing has been heard yet. */
  @Nullable String trouble();

  /** How many requests are open. */
  int inFlight();

  /** Closes the way for good; requests that are open fail. */
  void close();
}
