package io.osier.proxy.transaction;

import static java.util.Objects.requireNonNull;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import io.osier.proxy.Connection;
import io.osier.proxy.TransactionOptions;
import io.osier.proxy.call.Call;
import io.osier.proxy.call.Coordinator;
import io.osier.proxy.session.SessionCore;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A request that begins a transaction. */
public final class TransactCall extends Call<Reply.Transacted> {
  /** How long to wait for the answer to an abort that no caller needs, in milliseconds. */
  private static final long LATE_MILLIS = 1_000;

  private final TransactionId id;
  private final TransactionOptions options;
  private final List<Request.Update> updates;
  private final List<Request.Fetch> reads;
  private final Request.End end;
  private volatile @Nullable Coordinator answeredAt;

  TransactCall(
      SessionCore session,
      String keyspace,
      TransactionId id,
      TransactionOptions options,
      List<Request.Update> updates,
      List<Request.Fetch> reads,
      Request.End end) {
    super(session, keyspace, null, !updates.isEmpty());
    this.id = id;
    this.options = options;
    this.updates = updates;
    this.reads = reads;
    this.end = end;
  }

  @Override
  protected int partition(Reply.KeyspaceInfo info) {
    return 0;
  }

  @Override
  protected Request request(VersionVector after, boolean ordered, int waitMillis) {
    VersionVector clock = options.past() ? options.clock() : options.clock().join(after);
    int limit = Math.toIntExact(options.limit().toMillis());
    Request.Begin begin = new Request.Begin(clock, options.past(), waitMillis, limit);
    return new Request.Transact(keyspace, id, 1, Optional.of(begin), updates, reads, end);
  }

  @Override
  protected boolean waitsForPast() {
    return !options.past(); // a past snapshot waits only for its own clock
  }

  @Override
  protected void answeredBy(Connection from, ReplicaId replica) {
    answeredAt = new Coordinator(from, replica);
  }

  @Override
  protected boolean isRepeatable() {
    return true;
  }

  @Override
  protected Reply.Transacted result(Reply reply) {
    return (Reply.Transacted) reply;
  }

  /** After the caller has given up, only this call can abort the transaction that it began. */
  @Override
  protected boolean hearsLate() {
    return end == Request.End.OPEN;
  }

  @Override
  protected void late(Reply.Transacted begun) {
    if (end == Request.End.OPEN) {
      Request.Transact abort =
          new Request.Transact(
              keyspace, id, 2, Optional.empty(), List.of(), List.of(), Request.End.ABORT);
      var unused = home().connection().send(abort, LATE_MILLIS);
    }
  }

  Coordinator home() {
    return requireNonNull(answeredAt); // set when the call was answered
  }
}
