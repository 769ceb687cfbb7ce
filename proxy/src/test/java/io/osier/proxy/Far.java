package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** A datacenter that answers when the test says so. */
final class Far extends SteppedConnection {
  record Sent(Request request, long deadlineNanos, Answered answered) {}

  final Queue<Sent> open = new ArrayDeque<>();

  Reply.Elsewhere elsewhere = Reply.Elsewhere.NOTHING;

  /** What happens when it is asked for its keyspaces, before it tells them. */
  Runnable whenAsked = () -> {};

  /** How often it was asked for its keyspaces. */
  int asked;

  /** Its answer to what it has of the others, when that was asked. */
  CompletableFuture<Reply> through = new CompletableFuture<>();

  /** Whether another process takes its place as soon as it has said who it is. */
  boolean restarts;

  /** Why it cannot be reached; null if that is not known. */
  @Nullable String trouble;

  /** Why it does not tell them; null if it does. */
  @Nullable RuntimeException untold;

  Far(String dc, double roundTripMillis) {
    super(dc, roundTripMillis);
    keyspaces = List.of(new Reply.KeyspaceInfo("k", 1_000, 1, false));
  }

  @Override
  public ReplicaId replica() {
    ReplicaId told = replica;
    if (restarts) {
      restarts = false;
      replica = new ReplicaId(told.dc(), told.incarnation() + 1);
    }
    return told;
  }

  @Override
  public Reply.Elsewhere elsewhere() {
    return elsewhere;
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    asked++;
    whenAsked.run();
    return untold == null
        ? CompletableFuture.completedFuture(null)
        : CompletableFuture.failedFuture(new CompletionException(untold));
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    assertThat(request).isInstanceOf(ProgressRequest.Through.class);
    through = new CompletableFuture<>();
    return through;
  }

  @Override
  public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    if (answered.begins()) {
      open.add(new Sent(request, deadlineNanos, answered));
    } else {
      answered.lost(Connection.isNotWanted(false));
    }
  }

  void fails(ErrorCode code) {
    open.remove().answered.answered(new Reply.Failure(code, "as the test wants"));
  }

  void isLost(boolean sent) {
    open.remove().answered.lost(new LostException(ErrorCode.UNAVAILABLE, sent, "lost"));
  }

  Request.Transact isStepDone() {
    Sent sent = open.remove();
    VersionVector clock = VersionVector.of(replica, 1);
    sent.answered.answered(new Reply.Transacted(clock, Optional.empty(), List.of()));
    return (Request.Transact) sent.request;
  }

  void isLate() {
    open.remove().answered.lost(new LostException(ErrorCode.TIMEOUT, true, "late"));
  }

  Request.Read answers(long count, VersionVector seen) {
    Sent sent = open.remove();
    sent.answered.answered(new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(count), seen));
    return (Request.Read) sent.request;
  }

  void isDone() {
    open.remove().answered.answered(new Reply.Done(new Dot(replica, 1)));
  }

  @Override
  public @Nullable String trouble() {
    return trouble;
  }

  @Override
  public int inFlight() {
    return open.size();
  }
}
