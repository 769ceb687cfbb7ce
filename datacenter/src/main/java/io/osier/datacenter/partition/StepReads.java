package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.Framing;
import io.osier.crdt.Query;
import io.osier.crdt.ReadingCodec;
import io.osier.crdt.state.CrdtState;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The answers to the reads of a transaction's step. Long reads are put off: another thread does
 * them after the step. Not thread-safe, but for what {@link #later} returns.
 */
final class StepReads {
  /** What a reply takes besides its answers, about: a version vector. */
  private static final int REST_BYTES_MAX = 64 << 10;

  private final LongSupplier millis;
  private final List<Supplier<Reply.Answer>> answers = new ArrayList<>();
  private final Size size = new Size();

  /** The states that long reads will read. */
  private final List<CrdtState> unread = new ArrayList<>();

  private long unreadBytes;

  /**
   * The encoded size of answers. While they take little in the heap, they are not encoded to find
   * out. Not thread-safe.
   */
  private static final class Size {
    /**
     * The most by which encoding enlarges an answer's bytes in the heap: UTF-8 may take three bytes
     * for two.
     */
    private static final int ENCODED_MAX = 2;

    /** What an answer takes besides its reading. */
    private static final int ANSWER_BYTES = 4;

    private final List<Reply.Answer> unknown = new ArrayList<>();
    private long bytes;

    /** An upper bound for the answers that have not been encoded. */
    private long unknownBytes;

    private @Nullable WireOutput out;

    /**
     * Adds an answer.
     *
     * @throws OsierException VALUE_TOO_LARGE if a reply has no room for all answers
     */
    void add(Reply.Answer answer) {
      unknown.add(answer);
      unknownBytes += ENCODED_MAX * MessageHeap.bytes(answer);
      check(0);
    }

    /** Checks that a reply has room for this many bytes more. */
    void check(long more) {
      if (bytes + unknownBytes + more <= Framing.CLIENT_FRAME_BYTES_MAX) {
        return;
      }
      unknown.forEach(this::encode);
      unknown.clear();
      unknownBytes = 0;
      if (bytes + more > Framing.CLIENT_FRAME_BYTES_MAX) {
        throw tooLarge();
      }
    }

    private void encode(Reply.Answer answer) {
      WireOutput to = out == null ? new WireOutput(Framing.CLIENT_FRAME_BYTES_MAX) : out;
      out = to;
      bytes +=
          ANSWER_BYTES
              + to.sizeOf(o -> answer.reading().ifPresent(r -> ReadingCodec.write(o, r)))
                  .orElseThrow(Size::tooLarge);
    }

    private static OsierException tooLarge() {
      return new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "what a step reads takes more than the "
              + Framing.CLIENT_FRAME_BYTES_MAX
              + " bytes that an answer holds (beside updates, large objects that are read as a"
              + " whole count as they are stored): nothing was done, read fewer at a time, or in"
              + " part");
    }
  }

  /**
   * @param millis the time, in milliseconds since 1970, by which objects expire
   */
  StepReads(LongSupplier millis) {
    this.millis = millis;
  }

  /**
   * Adds a read.
   *
   * @param states the objects of its key
   * @throws OsierException VALUE_TOO_LARGE if a reply has no room for all that was read so far; see
   *     also {@link Reads#of(List, Request.Read, LongSupplier)}
   */
  void add(List<CrdtState> states, Request.Fetch fetch) {
    CrdtState found = Reads.found(states, fetch, millis);
    boolean isOfAll = fetch.query() instanceof Query.Whole; // its size is known
    if (found != null && isOfAll && Reads.isLong(List.of(found), fetch.query())) {
      answers.add(() -> unseen(Reads.answer(fetch.query(), found, millis)));
      unread.add(found);
      unreadBytes += found.sizeBytes();
    } else {
      Reply.Answer answer =
          unseen(Reads.of(states, fetch.key(), fetch.type(), fetch.query(), millis));
      size.add(answer);
      answers.add(() -> answer);
    }
  }

  /**
   * Returns the answer without what was seen: the reply tells the snapshot's vector, and dots of
   * trial updates mean nothing to a client.
   */
  private static Reply.Answer unseen(Reply.Answer answer) {
    return new Reply.Answer(answer.type(), answer.reading(), answer.exists(), VersionVector.EMPTY);
  }

  /**
   * Checks that a reply has room for all answers, those of long reads included. Called before a
   * step changes anything, as a step that fails must have changed nothing.
   */
  void checkSize() {
    size.check(unreadBytes + REST_BYTES_MAX);
  }

  /** Does the long reads now, however long they take. */
  void make() {
    List<Reply.Answer> made = all();
    answers.clear();
    made.forEach(answer -> answers.add(() -> answer));
    unread.clear();
  }

  boolean isLong() {
    return !unread.isEmpty();
  }

  /**
   * Returns the answers, in the order of the reads.
   *
   * @throws OsierException VALUE_TOO_LARGE if a reply has no room for the long reads
   */
  List<Reply.Answer> all() {
    if (!isLong()) {
      return answers.stream().map(Supplier::get).toList();
    }
    Size all = new Size();
    List<Reply.Answer> made = new ArrayList<>(answers.size());
    for (Supplier<Reply.Answer> each : answers) {
      Reply.Answer answer = each.get();
      all.add(answer);
      made.add(answer);
    }
    return made;
  }

  /**
   * Returns a supplier, for any thread, of the step's answer. If the answer cannot be made, the
   * client must not go on as if the step had not been done, unless the step changed nothing and its
   * answer was merely too large.
   *
   * @param hasDone whether the step has changed something: updates, the end or the beginning of its
   *     transaction
   */
  Supplier<Reply> later(Function<List<Reply.Answer>, Reply> reply, boolean hasDone) {
    Supplier<Reply> made = Reads.later(unread, () -> reply.apply(all()));
    return () -> {
      Reply answer = made.get();
      boolean ends = hasDone || !isTooLarge(answer);
      return ends && answer instanceof Reply.Failure f
          ? new Reply.Failure(
              ErrorCode.TRANSACTION_ENDED,
              "the transaction has ended, and nothing of it was done: " + f.message())
          : answer;
    };
  }

  private static boolean isTooLarge(Reply answer) {
    return answer instanceof Reply.Failure f && f.code() == ErrorCode.VALUE_TOO_LARGE;
  }
}
