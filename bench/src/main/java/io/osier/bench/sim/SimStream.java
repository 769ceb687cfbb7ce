package io.osier.bench.sim;

import java.util.ArrayDeque;

/**
 * One direction of a connection as TCP gives it: bytes in order, in a buffer of bounded size. Where
 * nobody reads it fills up, and then its writer is stopped.
 */
abstract class SimStream {
  private final SimChannel from;
  private final SimChannel to;
  private final ArrayDeque<byte[]> come = new ArrayDeque<>();
  private long lastArrivalNanos;
  private int held;
  private boolean lost;
  private boolean atEnd;
  private boolean delivering;

  SimStream(SimChannel from, SimChannel to) {
    this.from = from;
    this.to = to;
  }

  /** So much is on its way, or waits to be read, at most. */
  abstract int bufferBytes();

  /** Takes bytes to the other end; none are the connection's end. */
  abstract void carry(byte[] bytes);

  /** Bytes have come to an end that is closed. */
  abstract void refused();

  /**
   * Its writer has closed the connection.
   *
   * @param byNetwork because it was cut
   */
  abstract void ended(boolean byNetwork);

  /** Whether the reader does not read. */
  boolean isDeaf() {
    return false;
  }

  /** The writer has more than there is room for. */
  void isFull() {}

  final SimChannel from() {
    return from;
  }

  /** How much the writer may put in now. */
  final int room() {
    return Math.max(0, bufferBytes() - held);
  }

  final void put(byte[] bytes) {
    held += bytes.length;
    carry(bytes);
  }

  /** When what leaves now is there, if it would be there at a time by itself. */
  final long arrivalNanos(long aloneNanos) {
    lastArrivalNanos = Math.max(lastArrivalNanos, aloneNanos);
    return lastArrivalNanos;
  }

  final boolean isLost() {
    return lost;
  }

  /** Nothing comes out of it any more. */
  final void lose() {
    lost = true;
  }

  /** As {@link #lose}, and what has come is not read. */
  final void discard() {
    lost = true;
    come.clear();
  }

  /** Whether an end is closed, or gone. */
  static boolean isOver(SimChannel end) {
    return !end.isOpen() || end.process().isClosed();
  }

  /** Bytes are there; none means the end. */
  final void arrived(byte[] bytes) {
    if (lost) {
      return;
    }
    if (bytes.length > 0 && isOver(to)) {
      refused();
      return;
    }
    if (bytes.length == 0) {
      atEnd = true;
    } else {
      come.add(bytes);
    }
    deliver();
  }

  final boolean hasCome() {
    return !come.isEmpty();
  }

  /** Gives the reader what has come, as far as it reads. */
  final void deliver() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      boolean any = false;
      while (!come.isEmpty() && to.reads() && !isDeaf()) {
        byte[] bytes = come.poll();
        held -= bytes.length;
        to.read(bytes);
        any = true;
      }
      if (any) {
        to.readComplete();
        from.flushMore();
      }
      if (atEnd && come.isEmpty()) {
        to.end(false);
      }
    } finally {
      delivering = false;
    }
    if (!come.isEmpty() && to.reads() && !isDeaf()) {
      deliver(); // the reader went on meanwhile
    }
  }
}
