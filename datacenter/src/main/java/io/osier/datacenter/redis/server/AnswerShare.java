package io.osier.datacenter.redis.server;

import io.osier.protocol.Reply;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the answers of a connection may take: those that are there, and those that are being asked
 * for. How large one will be is known only when it is there; until then it counts as much as the
 * largest of the last ones. So a pipeline of small reads is under way at once, and one of large
 * sets a few at a time. What then comes in spite of that is not kept but refused. Used by the
 * channel's loop, but for what is said to be for any thread.
 */
final class AnswerShare {
  /** Where so much is there, or expected, no further command is begun. */
  static final long SHARE_BYTES = 16L << 20;

  /** Beyond this a value that was read is given up: one alone may have as much. */
  static final long BYTES_MAX = Answers.ANSWER_BYTES_MAX;

  /** What an answer counts while nothing is known: all that may be under way fit in. */
  private static final long FIRST_BYTES = 8L << 10;

  private final Answers answers;
  private final AtomicLong replyBytes = new AtomicLong();
  private long expected = FIRST_BYTES;

  /**
   * Nothing was asked yet.
   *
   * @param answers those that wait for others, or to be read
   */
  AnswerShare(Answers answers) {
    this.answers = answers;
  }

  /** Whether one more command may be begun, beside those under way. */
  boolean hasRoom(int underWay) {
    return present() + underWay * expected < SHARE_BYTES;
  }

  private long present() {
    return replyBytes.get() + answers.waitingBytes();
  }

  /**
   * Keeps a reply until {@link #taken}. For any thread.
   *
   * @return the bytes that it takes, about; -1 if it is to be given up
   */
  long keep(Reply reply) {
    long bytes = reply.heapBytes();
    long before = present();
    if (isOnlyRead(reply) && before > 0 && before + bytes > BYTES_MAX) {
      return -1;
    }
    replyBytes.addAndGet(bytes);
    return bytes;
  }

  /** What is lost by giving it up can be read again. */
  private static boolean isOnlyRead(Reply reply) {
    return switch (reply) {
      case Reply.Answer a -> true;
      case Reply.Page p -> true;
      case Reply.Evaluated e -> e.dot().isEmpty();
      default -> false;
    };
  }

  /** The replies to one step, of so many bytes, become an answer, or the next step begins. */
  void taken(long bytes) {
    replyBytes.addAndGet(-bytes);
    expected = Math.max(Math.max(FIRST_BYTES, bytes), expected - expected / 8);
  }
}
