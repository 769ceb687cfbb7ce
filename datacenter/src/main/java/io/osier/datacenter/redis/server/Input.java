package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.redis.RespDecoder;

/**
 * The bytes of a connection that have come and are not decoded yet. The buffer grows with them; the
 * part beyond its usual size is taken from a budget. Used by the channel's loop only.
 */
final class Input implements ClientRequests.Room {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int BUFFER_BYTES_MIN = 1 << 10;

  /**
   * Largest buffer of a connection that has no bytes waiting: there may be ten thousand such
   * connections.
   */
  private static final int BUFFER_BYTES_KEPT = 1 << 12;

  private static final byte[] NOTHING = {};

  private final RespDecoder decoder = new RespDecoder(RespDecoder.Limits.UNKNOWN_USER);
  private ByteBudget budget = ByteBudget.UNLIMITED;
  private byte[] bytes = NOTHING; // no buffer before the first byte comes
  private long held; // the bytes that the buffer takes of the budget
  private int from;
  private int to;

  /** The place of the command that was found last. */
  private int found;

  private int foundBytes;

  Input() {}

  /** Sets the limits that hold from the next word on. */
  void setLimits(RespDecoder.Limits limits) {
    decoder.setLimits(limits);
  }

  /** Appends bytes that have come; false if there is no room for them. */
  boolean append(ByteBuf more) {
    int n = more.readableBytes();
    if (n > bytes.length - to && !makeRoom(n)) {
      return false;
    }
    more.readBytes(bytes, to, n);
    to += n;
    return true;
  }

  private boolean makeRoom(int n) {
    int waiting = to - from;
    byte[] target = bytes;
    if (waiting + (long) n > bytes.length) {
      long doubled = Math.clamp(2L * bytes.length, BUFFER_BYTES_MIN, Integer.MAX_VALUE - 8);
      int size = Math.toIntExact(Math.max((long) waiting + n, doubled));
      if (!hold(size)) {
        size = waiting + n;
        if (!hold(size)) {
          return false;
        }
      }
      target = new byte[size];
    }
    System.arraycopy(bytes, from, target, 0, waiting);
    bytes = target;
    from = 0;
    to = waiting;
    return true;
  }

  /** Takes from the budget what a buffer needs; false if there is not so much. */
  private boolean hold(int size) {
    long more = beyond(size) - held;
    if (more > 0) {
      if (!budget.tryTake(more)) {
        return false;
      }
      held += more;
    }
    return true;
  }

  /** Returns how much of the budget the buffer takes with {@code more} bytes. */
  long needed(int more) {
    return beyond(to - from + more);
  }

  /** Finds the next command, which {@link #words} then returns; false if not all of it has come. */
  boolean next() {
    int length = decoder.decode(bytes, from, to);
    if (length < 0) {
      return false;
    }
    found = from;
    foundBytes = length;
    from += length;
    return true;
  }

  /** Returns the length of the command that was found last, in bytes. */
  int found() {
    return foundBytes;
  }

  /** Returns the words of the command that was found last; once for each. */
  byte[][] words() {
    return decoder.take(bytes, found);
  }

  /** Gives up a large buffer; called when all commands that were found are taken. */
  void settle() {
    int waiting = to - from;
    if (waiting == 0) {
      from = 0;
      to = 0;
    }
    if (waiting == 0 && bytes.length > BUFFER_BYTES_KEPT) {
      replace(NOTHING);
    } else if (held < beyond(bytes.length)) {
      byte[] smaller = new byte[Math.max(BUFFER_BYTES, waiting)];
      System.arraycopy(bytes, from, smaller, 0, waiting);
      from = 0;
      to = waiting;
      replace(smaller);
    }
  }

  void close() {
    from = 0;
    to = 0;
    replace(NOTHING);
  }

  private void replace(byte[] other) {
    long needed = beyond(other.length);
    budget.take(needed);
    budget.give(held);
    held = needed;
    bytes = other;
  }

  int bufferBytes() {
    return bytes.length;
  }

  int size() {
    return to - from;
  }

  private static long beyond(int bytes) {
    return Math.max(0, bytes - BUFFER_BYTES);
  }

  // ---------------------------------------------------------------- what is held

  @Override
  public boolean tryKeep(long wanted) {
    long moved = Math.min(held, wanted);
    if (!budget.tryTake(wanted - moved)) {
      return false;
    }
    held -= moved;
    return true;
  }

  @Override
  public long heldBytes() {
    return held;
  }

  @Override
  public void setBudget(ByteBudget other) {
    other.take(held);
    budget.give(held);
    budget = other;
  }
}
