package io.osier.bench.sim.world;

import java.util.ArrayDeque;

/**
 * One direction of a connection as TCP gives it: bytes in order, in a buffer of bounded size. Where
 * nobody reads it fills up, and then its writer is stopped.
 */
public abstract class SimStream {
  private static final long SIGN_NANOS = Scheduler.SECOND;

  private final SimChannel from;
  private final SimChannel to;
  private final ArrayDeque<SimCargo> come = new ArrayDeque<>();
  private long lastArrivalNanos;
  private int held;
  private long putBytes;
  private boolean lost;
  private boolean atEnd;
  private boolean delivering;
  private long signNanos;

  public SimStream(SimChannel from, SimChannel to) {
    this.from = from;
    this.to = to;
  }

  /** The most bytes that may be on their way or wait to be read. */
  protected abstract int bufferBytes();

  /** Takes bytes to the other end; none are the connection's end. */
  protected abstract void carry(byte[] bytes);

  /** Takes a frame to the other end that nobody encodes. */
  protected void carry(SimCargo frame) {
    throw new IllegalStateException("this connection carries bytes");
  }

  /** Bytes have come to an end that is closed. */
  protected abstract void refused();

  /**
   * Its writer has closed the connection.
   *
   * @param byNetwork because it was cut
   */
  protected abstract void ended(boolean byNetwork);

  /** Whether the reader does not read. */
  protected boolean isDeaf() {
    return false;
  }

  /** The writer has more than there is room for. */
  protected void isFull() {}

  public final SimChannel from() {
    return from;
  }

  /** How many bytes the writer may put in now. */
  final int room() {
    return Math.max(0, bufferBytes() - held);
  }

  /** Puts in a frame that nobody encodes: there is room for it. */
  final void put(SimCargo frame) {
    held += frame.size();
    carry(frame);
  }

  final void put(byte[] bytes) {
    held += bytes.length;
    putBytes += bytes.length;
    carry(bytes);
  }

  /** How many bytes its writer has written so far, whether they were taken or not. */
  final long writtenBytes() {
    return putBytes + from.unsentBytes();
  }

  /** When bytes that leave now arrive: no earlier than those before them. */
  public final long arrivalNanos(long aloneNanos) {
    lastArrivalNanos = Math.max(lastArrivalNanos, aloneNanos);
    return lastArrivalNanos;
  }

  public final boolean isLost() {
    return lost;
  }

  /** Nothing comes out of it any more. */
  public final void lose() {
    lost = true;
  }

  /** Whether an end is closed, or gone. */
  public static boolean isOver(SimChannel end) {
    return !end.isOpen() || end.process().isClosed();
  }

  /** Bytes are there; none means the end. */
  public final void arrived(byte[] bytes) {
    arrived(SimCargo.of(bytes));
  }

  /** Cargo has come; cargo without bytes is the end of the connection. */
  public final void arrived(SimCargo cargo) {
    if (lost) {
      return;
    }
    if (!cargo.isEnd() && isOver(to)) {
      refused();
      return;
    }
    if (cargo.isEnd()) {
      atEnd = true;
    } else {
      come.add(cargo);
    }
    deliver();
  }

  /** Hands cargo to the reader; returns whether its handlers were given bytes. */
  private boolean read(SimCargo cargo) {
    if (cargo.frame() != null) {
      cargo.frame().run();
    }
    byte[] bytes = cargo.bytes();
    if (bytes.length == 0) {
      // That something comes is a sign of life, but need not be told each time.
      if (to.nanos() - signNanos < SIGN_NANOS) {
        return false;
      }
      signNanos = to.nanos();
    }
    to.read(bytes);
    return true;
  }

  final boolean hasCome() {
    return !come.isEmpty();
  }

  /** Gives the reader what has come, as far as it reads. */
  public final void deliver() {
    if (delivering) {
      return;
    }
    delivering = true;
    try {
      boolean any = false;
      while (!come.isEmpty() && to.reads() && !isDeaf()) {
        SimCargo cargo = come.poll();
        held -= cargo.size();
        any |= read(cargo);
      }
      if (any) {
        to.readComplete();
      }
      from.flushMore();
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
