package io.osier.datacenter.frontend;

import io.osier.core.net.ByteBudget;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The share of one connection in the memory for answers: bounds the answers that wait to be sent,
 * and the requests that are begun. The size of an answer is known only when it has come; until then
 * it counts as much as the largest of the last ones. So a pipeline of small reads is done at once,
 * and one of large sets a few at a time. An answer that does not fit all the same is given up: if
 * its connection has too much already, or all connections together have. For the channel's loop,
 * except methods that say otherwise.
 */
public final class AnswerShare {
  /** No further request is begun while so many bytes are present or expected. */
  private static final long SHARE_BYTES = 16L << 20;

  /** The most bytes of a connection's answers; one beyond it is given up, unless it is alone. */
  static final long BYTES_MAX = 128L << 20;

  /** The bytes that each connection may have, whatever the others have. */
  static final long FREE_BYTES = 64L << 10;

  /** The expected size of the first answer, in bytes. */
  private static final long FIRST_BYTES = 8L << 10;

  private final ByteBudget all;
  private final long shareBytes;
  private final long bytesMax;
  private final AtomicLong present = new AtomicLong();
  private long expected = FIRST_BYTES;

  /**
   * @param all the budget of the answers of all connections
   */
  public AnswerShare(ByteBudget all) {
    this.all = all;
    this.shareBytes = Math.min(SHARE_BYTES, all.max() / 4);
    this.bytesMax = Math.min(BYTES_MAX, all.max() / 2);
  }

  /** Returns whether one more request may be begun, beside this number of unanswered ones. */
  public boolean hasRoom(int underWay) {
    return present.get() + underWay * expected < shareBytes;
  }

  /** Returns the bytes of the present answers, about. For any thread. */
  public long presentBytes() {
    return present.get();
  }

  /**
   * Keeps a reply until {@link #give}. For any thread.
   *
   * @return the bytes that it takes, about; -1 if it is given up and {@link UnsentReply#noRoom} is
   *     to be sent
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
    if (isAlone || (bytes <= FREE_BYTES && !UnsentReply.canBeAskedAgain(reply))) {
      return bytes;
    }
    give(bytes);
    return -1;
  }

  /**
   * Replaces kept bytes by those of another form, until {@link #give}: in one step, so that a reply
   * that comes meanwhile finds neither too much room nor too little.
   *
   * @param others the bytes to keep no more
   */
  public void keep(long bytes, long others) {
    long change = bytes - others;
    if (change == 0) {
      return;
    }
    long after = present.addAndGet(change);
    long more = beyond(after) - beyond(after - change);
    if (more > 0) { // beyond the free bytes all connections share
      all.take(more);
    } else if (more < 0) {
      all.give(-more);
    }
  }

  /** Gives kept bytes back. For any thread. */
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

  /**
   * Learns how many bytes the replies to one request took, since the next ones may take as many.
   */
  public void learn(long bytes) {
    expected = Math.max(Math.max(FIRST_BYTES, bytes), expected - expected / 8);
  }
}
