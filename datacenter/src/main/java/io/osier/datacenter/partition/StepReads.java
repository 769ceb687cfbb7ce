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
 * What the reads of a transaction's step are answered. What takes long to be read is not read yet:
 * that is for somebody else to do, when the step is done. Not thread-safe, but for what {@link
 * #later} returns.
 */
final class StepReads {
  /** What a reply has beside its answers, about: a vector. */
  private static final int REST_BYTES_MAX = 64 << 10;

  private final LongSupplier millis;
  private final List<Supplier<Reply.Answer>> answers = new ArrayList<>();
  private final Size size = new Size();

  /** What is not read yet. */
  private final List<CrdtState> unread = new ArrayList<>();

  private long unreadBytes;

  /**
   * What answers take when they are encoded. As long as they take little in the heap, they are not
   * encoded to know it. Not thread-safe.
   */
  private static final class Size {
    /** Encoded they take so many times as much at most: UTF-8 has three bytes for two. */
    private static final int ENCODED_MAX = 2;

    /** What an answer takes beside its reading. */
    private static final int ANSWER_BYTES = 4;

    private final List<Reply.Answer> unknown = new ArrayList<>();
    private long bytes;

    /** No less than what those take that are not encoded. */
    private long unknownBytes;

    private @Nullable WireOutput out;

    /** One answer more; fails with VALUE_TOO_LARGE if a reply has no room for all. */
    void add(Reply.Answer answer) {
      unknown.add(answer);
      unknownBytes += ENCODED_MAX * MessageHeap.bytes(answer);
      check(0);
    }

    /** Checks that there is room for so many bytes more. */
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
   * @param millis the time, in milliseconds since 1970, that tells what has expired
   */
  StepReads(LongSupplier millis) {
    this.millis = millis;
  }

  /**
   * One read more.
   *
   * @param states what its key holds
   * @throws OsierException VALUE_TOO_LARGE if a reply has no room for all that was read so far; see
   *     also {@link Reads#of(List, Request.Read, LongSupplier)}
   */
  void add(List<CrdtState> states, Request.Fetch fetch) {
    CrdtState found = Reads.found(states, fetch, millis);
    boolean isOfAll = fetch.query() instanceof Query.Whole; // then its size is known
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

  /** What is seen is the snapshot, which the reply tells; trial dots mean nothing to anybody. */
  private static Reply.Answer unseen(Reply.Answer answer) {
    return new Reply.Answer(answer.type(), answer.reading(), answer.exists(), VersionVector.EMPTY);
  }

  /**
   * Checks that the client can be told all of it, what is not read yet included, before something
   * is done that a step which fails must not have done.
   */
  void checkSize() {
    size.check(unreadBytes + REST_BYTES_MAX);
  }

  /** Reads now what is not read yet, however long it takes. */
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
   * The answers, in the order of the reads.
   *
   * @throws OsierException VALUE_TOO_LARGE if a reply has no room for what was not read yet
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
   * Makes the step's answer, in any thread. If it cannot be made, whoever asked must not go on as
   * if the step had not been done, unless it has done nothing and was only too large.
   *
   * @param hasDone whether the step has done something: updates, the end or the beginning of its
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
