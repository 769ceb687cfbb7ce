package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.net.ByteBudget;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the answers of a connection may take: those that are there, until they have left, and those
 * that are being asked for. How large one will be is known only when it is there; until then it
 * counts as much as the largest of the last ones. So a pipeline of small reads is under way at
 * once, and one of large sets a few at a time. What then comes in spite of that is not kept but
 * given up: where the connection has too much already, or all connections together have. Used by
 * the channel's loop, but for what is said to be for any thread.
 */
public final class AnswerShare {
  /** Where so much is there, or expected, no further request is begun. */
  private static final long SHARE_BYTES = 16L << 20;

  /** Beyond this an answer is given up: one alone may have as much. */
  static final long BYTES_MAX = 128L << 20;

  /** So much every connection may have, whatever the others have. */
  static final long FREE_BYTES = 64L << 10;

  /** What an answer counts while nothing is known. */
  private static final long FIRST_BYTES = 8L << 10;

  private final ByteBudget all;
  private final long shareBytes;
  private final long bytesMax;
  private final AtomicLong present = new AtomicLong();
  private long expected = FIRST_BYTES;

  /**
   * @param all what the answers of all connections may take
   */
  public AnswerShare(ByteBudget all) {
    this.all = all;
    this.shareBytes = Math.min(SHARE_BYTES, all.max() / 4);
    this.bytesMax = Math.min(BYTES_MAX, all.max() / 2);
  }

  /** Whether one more request may be begun, beside those under way. */
  public boolean hasRoom(int underWay) {
    return present.get() + underWay * expected < shareBytes;
  }

  /** What is there, in bytes, about. For any thread. */
  public long presentBytes() {
    return present.get();
  }

  /**
   * Keeps a reply until {@link #give}. For any thread.
   *
   * @return the bytes that it takes, about; -1 if it is given up, for {@link #instead}
   */
  public long keep(Reply reply) {
    long bytes = MessageHeap.bytes(reply);
    long before = present.getAndAdd(bytes);
    long more = beyond(before + bytes) - beyond(before);
    if (more == 0) {
      return bytes;
    }
    boolean isAlone = all.taken() == 0;
    boolean fits = before <= FREE_BYTES || before + bytes <= bytesMax;
    if (fits && all.tryTake(more)) {
      return bytes;
    }
    all.take(more);
    if (isAlone || (bytes <= FREE_BYTES && !canBeGivenUp(reply))) {
      return bytes;
    }
    give(bytes);
    return -1;
  }

  /**
   * Keeps bytes that are made of others, in their place, until {@link #give}: in one step, so that
   * a reply that comes meanwhile finds neither too much room nor too little.
   *
   * @param others which are kept no more
   */
  public void keep(long bytes, long others) {
    long change = bytes - others;
    if (change == 0) {
      return;
    }
    long after = present.addAndGet(change);
    long more = beyond(after) - beyond(after - change);
    if (more > 0) { // all connections share those
      all.take(more);
    } else if (more < 0) {
      all.give(-more);
    }
  }

  /** Bytes that were kept are there no more. For any thread. */
  public void give(long bytes) {
    long after = present.addAndGet(-bytes);
    long less = beyond(after + bytes) - beyond(after);
    if (less != 0) {
      all.give(less);
    }
  }

  private static long beyond(long bytes) {
    return Math.max(0, bytes - FREE_BYTES);
  }

  /** The replies to one request took so many bytes: the next ones may, too. */
  public void learn(long bytes) {
    expected = Math.max(Math.max(FIRST_BYTES, bytes), expected - expected / 8);
  }

  /** What is answered in place of a reply that is given up. */
  public static Reply.Failure instead(Reply reply) {
    return canBeGivenUp(reply)
        ? new Reply.Failure(
            ErrorCode.OVERLOADED,
            "there is no memory for the answer beside those that wait to be sent; ask for less at"
                + " once, and read answers as they come")
        : new Reply.Failure(
            ErrorCode.TIMEOUT,
            "the update was done, but there is no memory for its answer beside those that wait to"
                + " be sent");
  }

  /** Whether what is lost by giving it up can be asked for again. */
  private static boolean canBeGivenUp(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> false;
      case Reply.All a -> a.parts().stream().noneMatch(Reply.Done.class::isInstance);
      case Reply.Evaluated e -> e.dot().isEmpty();
      case Reply.Transacted t -> false;
      case Reply.Welcome w -> false;
      case Reply.Challenge c -> false;
      case Reply.Failure f -> false;
      case Reply.Pong p -> false;
      default -> true;
    };
  }
}
