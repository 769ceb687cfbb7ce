package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.redis.RespDecoder;

/**
 * What has come on a connection and was not taken yet. It grows with what has come; what it needs
 * beyond the usual buffer is taken from a budget. Used by the channel's loop only.
 */
final class Input implements ClientRequests.Room {
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int BUFFER_BYTES_MIN = 1 << 10;

  /** A connection on which nothing waits keeps no more: there may be ten thousand. */
  private static final int BUFFER_BYTES_KEPT = 1 << 12;

  private static final byte[] NOTHING = {};

  private final RespDecoder decoder = new RespDecoder(RespDecoder.Limits.UNKNOWN_USER);
  private ByteBudget budget = ByteBudget.UNLIMITED;
  private byte[] bytes = NOTHING; // a connection on which nothing comes costs nothing
  private long held; // of the budget, by the buffer
  private int from;
  private int to;

  /** Where the command begins that was found last. */
  private int found;

  private int foundBytes;

  Input() {}

  /** From the next word on commands may be so large. */
  void setLimits(RespDecoder.Limits limits) {
    decoder.setLimits(limits);
  }

  /** Takes what has come; false if there is no room for it. */
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

  /** Holds what a buffer takes of the budget; false if there is not so much. */
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

  /** What the budget must have for as many bytes more. */
  long needed(int more) {
    return beyond(to - from + more);
  }

  /** Finds the next command, which {@link #words} has then; false if it is not all there. */
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

  /** How many bytes the command has that was found last. */
  int found() {
    return foundBytes;
  }

  /** The words of the command that was found last, once. */
  byte[][] words() {
    return decoder.take(bytes, found);
  }

  /** All that was found is taken: a large buffer is given up. */
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
