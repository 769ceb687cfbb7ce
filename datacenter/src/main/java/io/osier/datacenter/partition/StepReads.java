package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.net.Framing;
import io.osier.crdt.Causal;
import io.osier.crdt.Query;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the reads of a transaction's step are answered. What takes long to be read is not read yet:
 * that is for somebody else to do, when the step is done. Not thread-safe, but for what {@link
 * #later} returns.
 */
final class StepReads {
  private final LongSupplier millis;
  private final List<Supplier<Reply.Answer>> answers = new ArrayList<>();

  /** What is not read yet. */
  private final List<Causal> unread = new ArrayList<>();

  private long bytesMax;

  /**
   * Of no reads.
   *
   * @param millis the time, in milliseconds since 1970, that tells what has expired
   */
  StepReads(LongSupplier millis) {
    this.millis = millis;
  }

  /**
   * One read more.
   *
   * @param states what its key holds
   * @throws OsierException see {@link Reads#of(List, Request.Read, LongSupplier)}
   */
  void add(List<Causal> states, Request.Fetch fetch) {
    Causal found = Reads.found(states, fetch, millis);
    boolean isOfAll = fetch.query() instanceof Query.Whole; // then its size is known
    if (found != null && isOfAll && Reads.isLong(List.of(found), fetch.query())) {
      answers.add(() -> unseen(Reads.answer(fetch.query(), found, millis)));
      unread.add(found);
      bytesMax += found.sizeBytes();
    } else {
      Reply.Answer answer =
          unseen(Reads.of(states, fetch.key(), fetch.type(), fetch.query(), millis));
      answers.add(() -> answer);
      bytesMax += answer.heapBytes();
    }
  }

  /** What is seen is the snapshot, which the reply tells; trial dots mean nothing to anybody. */
  private static Reply.Answer unseen(Reply.Answer answer) {
    return new Reply.Answer(answer.type(), answer.reading(), answer.exists(), VersionVector.EMPTY);
  }

  /**
   * Checks that the client can be told all of it, before something is done that a step which fails
   * must not have done.
   */
  void checkSize() {
    if (bytesMax > Framing.CLIENT_FRAME_BYTES_MAX) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "what is read together with updates may take "
              + bytesMax
              + " bytes, and an answer holds "
              + Framing.CLIENT_FRAME_BYTES_MAX
              + ": read fewer at a time, or in part; nothing was done");
    }
  }

  /** Reads now what is not read yet, however long it takes. */
  void make() {
    answers.replaceAll(
        answer -> {
          Reply.Answer made = answer.get();
          return () -> made;
        });
    unread.clear();
  }

  /** Whether it takes long to have {@link #all}. */
  boolean isLong() {
    return !unread.isEmpty();
  }

  /** The answers, in the order of the reads. */
  List<Reply.Answer> all() {
    return answers.stream().map(Supplier::get).toList();
  }

  /**
   * Makes the step's answer, in any thread. If it cannot be made, whoever asked must not go on as
   * if the step had not been done.
   */
  Supplier<Reply> later(Function<List<Reply.Answer>, Reply> reply) {
    Supplier<Reply> made = Reads.later(unread, () -> reply.apply(all()));
    return () -> {
      Reply answer = made.get();
      return answer instanceof Reply.Failure f
          ? new Reply.Failure(
              ErrorCode.TRANSACTION_ENDED,
              "the transaction has ended, and nothing of it was done: " + f.message())
          : answer;
    };
  }
}
