package io.osier.bench.sim;

import java.util.ArrayDeque;

/**
 * A connection as TCP gives it: two ways of bytes in order, each with a buffer of bounded size. A
 * way whose bytes nobody reads fills up, and then its writer is stopped. The bytes of who dialled
 * take their turns on the link; what is answered is little, and only takes its time.
 */
final class SimConnection {
  /** How long silence must last before an end may give up. */
  private static final long SILENCE_NANOS = 10 * Scheduler.SECOND;

  /** A connection that has just begun may be refused, or not be the one that is wanted. */
  private static final long YOUNG_NANOS = 3 * Scheduler.SECOND;

  private final SimNetwork network;
  private final SimNetwork.Link link;
  private final SimChannel dialled;
  private final SimChannel accepted;
  private final Way there;
  private final Way back;
  private final long sinceNanos;

  SimConnection(SimNetwork network, SimNetwork.Link link, SimChannel dialled, SimChannel accepted) {
    this.network = network;
    this.link = link;
    this.dialled = dialled;
    this.accepted = accepted;
    this.there = new Way(dialled, accepted, true);
    this.back = new Way(accepted, dialled, false);
    this.sinceNanos = network.nanos();
    dialled.join(there, back);
    accepted.join(back, there);
  }

  /** One direction. */
  final class Way {
    private final SimChannel from;
    private final SimChannel to;
    private final boolean takesTurns;
    private final ArrayDeque<SimNetwork.Unsent> unsent = new ArrayDeque<>();
    private final ArrayDeque<byte[]> come = new ArrayDeque<>();
    private long lastArrivalNanos;
    private int held;
    private boolean lost;
    private boolean atEnd;
    private boolean delivering;

    private Way(SimChannel from, SimChannel to, boolean takesTurns) {
      this.from = from;
      this.to = to;
      this.takesTurns = takesTurns;
    }

    SimNetwork.Link link() {
      return link;
    }

    boolean takesTurns() {
      return takesTurns;
    }

    /** How much the writer may put in now. */
    int room() {
      return Math.max(0, link.bufferBytes() - held);
    }

    /** The writer has more than there is room for. */
    void isFull() {
      network.isFull(link);
    }

    /** What waits to be written, and what waits here, in bytes. */
    long backlogBytes() {
      return from.unsentBytes();
    }

    void put(byte[] bytes) {
      held += bytes.length;
      network.enter(this, bytes);
    }

    /** When what leaves now is there, if it would be there at a time by itself. */
    long arrivalNanos(long aloneNanos) {
      lastArrivalNanos = Math.max(lastArrivalNanos, aloneNanos);
      return lastArrivalNanos;
    }

    /** What has been written and waits for its turn on the link. */
    ArrayDeque<SimNetwork.Unsent> unsent() {
      return unsent;
    }

    boolean isLost() {
      return lost;
    }

    /** Nothing comes out of it any more. */
    void lose() {
      lost = true;
    }

    /** Bytes are there; none means the end. */
    void arrived(byte[] bytes) {
      if (lost) {
        return;
      }
      if (bytes.length > 0 && isOver(to)) {
        network.refused(this);
        return;
      }
      if (bytes.length == 0) {
        atEnd = true;
      } else {
        come.add(bytes);
      }
      deliver();
    }

    boolean hasCome() {
      return !come.isEmpty();
    }

    /** Gives the reader what has come, as far as it reads. */
    void deliver() {
      if (delivering) {
        return;
      }
      delivering = true;
      try {
        boolean any = false;
        while (!come.isEmpty() && to.reads() && !network.isDeaf(this)) {
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
      if (!come.isEmpty() && to.reads() && !network.isDeaf(this)) {
        deliver(); // the reader went on meanwhile
      }
    }

    /** Its writer has closed the connection. */
    void ended(boolean byNetwork) {
      if (!byNetwork) {
        gaveUp(from);
      }
      network.enter(this, new byte[0]);
    }
  }

  /** An end has closed it by itself: it may where nothing has come for long, or has just begun. */
  private void gaveUp(SimChannel end) {
    long calm = link.calmSinceNanos();
    calm = Math.max(calm, dialled.sockets().servedSinceNanos());
    calm = Math.max(calm, accepted.sockets().servedSinceNanos());
    long now = network.nanos();
    if (calm != Long.MAX_VALUE && now - calm > SILENCE_NANOS && now - sinceNanos > YOUNG_NANOS) {
      network.fail(
          new Violation(
              "",
              "%s gives up the connection %s, on which bytes go as they should",
              end.sockets().dc().self(),
              link));
    }
  }

  boolean isOf(SimNetwork.Link other) {
    return link == other;
  }

  SimChannel dialled() {
    return dialled;
  }

  SimChannel accepted() {
    return accepted;
  }

  /** Whether both ends are closed, or gone. */
  boolean isOver() {
    return isOver(dialled) && isOver(accepted);
  }

  private static boolean isOver(SimChannel end) {
    return !end.isOpen() || end.sockets().isClosed();
  }

  /** Whoever can read, reads. */
  void deliver() {
    there.deliver();
    back.deliver();
  }

  /** What is under way comes to nobody. */
  void loseAll() {
    network.lose(there);
    network.lose(back);
  }

  /** What its writer wants to send and the link has not taken, in bytes. */
  long backlogBytes() {
    return there.backlogBytes();
  }
}
