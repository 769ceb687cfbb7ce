package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What clients ask of one datacenter of a {@link Cluster}. */
public abstract class ClientCalls {
  /** A number that nothing has yet. */
  abstract long newNumber();

  /** Submits a request; returns its ticket. */
  abstract long submit(Request request);

  /** What was answered; null if nothing was yet. */
  abstract @Nullable Reply reply(long ticket);

  /** The answer to a request that waits for nothing. */
  public Reply answer(Request request) {
    return requireNonNull(reply(submit(request)), "answered at once");
  }

  public Reply write(String key, CrdtType type, Operation operation) {
    return write(key, type, operation, VersionVector.EMPTY, 0);
  }

  Reply write(String key, CrdtType type, Operation op, VersionVector after, int waitMillis) {
    return answer(new Request.Write("k", Key.of(key), type, op, after, waitMillis));
  }

  /** Sends a write that waits for something; its ticket. */
  long send(String key, CrdtType type, Operation op, VersionVector after, int waitMillis) {
    return submit(new Request.Write("k", Key.of(key), type, op, after, waitMillis));
  }

  /** A transaction of one request, on what is visible now. */
  public Reply transact(Request.Update... updates) {
    return transact(new TransactionId(0, newNumber()), 1, Request.End.COMMIT, updates);
  }

  Reply transact(TransactionId id, int step, Request.End end, Request.Update... updates) {
    Optional<Request.Begin> begin =
        step == 1
            ? Optional.of(new Request.Begin(VersionVector.EMPTY, false, 0, 60_000))
            : Optional.empty();
    return answer(new Request.Transact("k", id, step, begin, List.of(updates), List.of(), end));
  }

  Optional<Reading> read(TransactionId id, int step, String key) {
    Request.Fetch fetch = new Request.Fetch(Key.of(key), Optional.empty(), new Query.Whole());
    Reply reply = answer(Requests.step("k", id, step, List.of(), List.of(fetch), Request.End.OPEN));
    return ((Reply.Transacted) reply).answers().getFirst().reading();
  }

  /** Reads registers on the oldest snapshot that contains a clock. */
  public Reply past(VersionVector clock, String... registers) {
    List<Request.Fetch> reads = new ArrayList<>();
    for (String key : registers) {
      reads.add(
          new Request.Fetch(Key.of(key), Optional.of(CrdtType.LWW_REGISTER), new Query.Whole()));
    }
    Request.Begin begin = new Request.Begin(clock, true, 0, 60_000);
    return answer(
        new Request.Transact(
            "k",
            new TransactionId(0, newNumber()),
            1,
            Optional.of(begin),
            List.of(),
            reads,
            Request.End.COMMIT));
  }

  /** Adds to a counter and demands that it is acknowledged. */
  public Reply.Done add(String key, long amount) {
    Reply reply = write(key, CrdtType.PN_COUNTER, new Operation.Increment(amount));
    if (reply instanceof Reply.Done done) {
      return done;
    }
    throw new AssertionError("not done: " + reply);
  }

  public long ask(String key, VersionVector after, int waitMillis) {
    return submit(
        new Request.Read(
            "k",
            Key.of(key),
            Optional.of(CrdtType.PN_COUNTER),
            new Query.Whole(),
            after,
            false,
            waitMillis));
  }
}
