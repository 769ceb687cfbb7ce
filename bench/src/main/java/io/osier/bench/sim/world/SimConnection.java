package io.osier.bench.sim.world;

import io.osier.bench.sim.plan.Sabotage;
import java.util.ArrayDeque;

/**
 * A connection as TCP gives it: two ways of bytes in order, each with a buffer of bounded size. A
 * way whose bytes nobody reads fills up, and then its writer is stopped. The bytes of who dialled
 * take their turns on the link; what is answered is little, and only takes its time.
 */
public final class SimConnection {
  /** How long nothing must have come before an end may close the connection. */
  private static final long SILENCE_NANOS = 10 * Scheduler.SECOND;

  /**
   * A connection that has just begun may be refused, or not be the one that is wanted: greetings go
   * there and back, however slow the link is.
   */
  private static final long YOUNG_NANOS = 3 * Scheduler.SECOND;

  private final Scheduler scheduler;
  private final Trace trace;
  private final Sabotage sabotage;
  private final SimLink link;
  private final SimChannel dialled;
  private final SimChannel accepted;
  private final Way there;
  private final Way back;
  private final long sinceNanos;

  /** Whether encoded updates have been sent over it. */
  private boolean brings;

  SimConnection(
      Scheduler scheduler,
      Trace trace,
      Sabotage sabotage,
      SimLink link,
      SimChannel dialled,
      SimChannel accepted) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.sabotage = sabotage;
    this.link = link;
    this.dialled = dialled;
    this.accepted = accepted;
    this.there = new Way(dialled, accepted, true);
    this.back = new Way(accepted, dialled, false);
    this.sinceNanos = scheduler.nanos();
    dialled.join(there, back);
    accepted.join(back, there);
  }

  /** One direction. */
  final class Way extends SimStream {
    private final boolean takesTurns;
    private final ArrayDeque<SimLinkQueue.Unsent> unsent = new ArrayDeque<>();

    private Way(SimChannel from, SimChannel to, boolean takesTurns) {
      super(from, to);
      this.takesTurns = takesTurns;
    }

    boolean takesTurns() {
      return takesTurns;
    }

    @Override
    public int bufferBytes() {
      return link.bufferBytes();
    }

    @Override
    public boolean isDeaf() {
      return takesTurns && link.isDeaf();
    }

    @Override
    public void isFull() {
      link.isFull();
    }

    /** How many bytes its writer has not handed to the socket. */
    long backlogBytes() {
      return from().unsentBytes();
    }

    @Override
    public void carry(byte[] bytes) {
      trace.hash(bytes);
      if (!isLost() && (bytes.length == 0 || sabotage.carries(takesTurns, bytes))) {
        link.queue().enter(this, SimCargo.of(bytes));
      }
    }

    @Override
    public void carry(SimCargo frame) {
      if (!isLost()) {
        link.queue().enter(this, frame);
      }
    }

    /** What was written and waits for its turn on the link. */
    ArrayDeque<SimLinkQueue.Unsent> unsent() {
      return unsent;
    }

    @Override
    public void refused() {
      link.queue().refused(this);
    }

    @Override
    public void ended(boolean byNetwork) {
      if (!byNetwork) {
        gaveUp(from());
      }
      carry(new byte[0]);
    }
  }

  /** Checks that an end that closes the connection may do so: after silence, or a short life. */
  private void gaveUp(SimChannel end) {
    long calm = link.calmSinceNanos();
    calm = Math.max(calm, dialled.process().servedSinceNanos());
    calm = Math.max(calm, accepted.process().servedSinceNanos());
    long now = scheduler.nanos();
    SimConnection last = link.connection();
    boolean isReplaced = last != null && last != this && !last.isOver();
    if (!isReplaced
        && calm != Long.MAX_VALUE
        && now - calm > SILENCE_NANOS
        && now - sinceNanos > YOUNG_NANOS + 2 * link.extraDelayNanosMax()) {
      scheduler.fail(
          new Violation(
              "",
              "%s gives up the connection %s, on which bytes go as they should",
              end.process(),
              link));
    }
  }

  boolean isOf(SimLink other) {
    return link == other;
  }

  /**
   * Sends a frame that nobody encodes; false if something waits to leave before it, or there is no
   * room: then the transport has to see that.
   */
  public boolean send(SimCargo frame) {
    if (!dialled.isServed() || dialled.unsentBytes() > 0 || there.room() < frame.size()) {
      return false;
    }
    there.put(frame);
    return true;
  }

  /**
   * Lets everything that is written until the present time ends leave together.
   *
   * @return how many bytes the next compressed block holds so far
   */
  public int gather() {
    dialled.gather(true);
    return dialled.gatheredBytes();
  }

  /** How many bytes the end that has dialled has written so far. */
  long writtenBytes() {
    return there.writtenBytes();
  }

  /** Whether encoded updates have been sent over it; the first ones are always encoded. */
  public boolean brings() {
    return brings;
  }

  /** Encoded updates are sent over it. */
  public void bringsUpdates() {
    brings = true;
  }

  public SimChannel dialled() {
    return dialled;
  }

  SimChannel accepted() {
    return accepted;
  }

  /** Whether both ends are closed, or gone. */
  boolean isOver() {
    return SimStream.isOver(dialled) && SimStream.isOver(accepted);
  }

  /** Lets both ends read what has come. */
  void deliver() {
    there.deliver();
    back.deliver();
  }

  /** Loses all bytes that are under way. */
  void loseAll() {
    link.queue().lose(there);
    link.queue().lose(back);
  }

  /** How many bytes the end that has dialled has written that the link has not taken. */
  long backlogBytes() {
    return there.backlogBytes();
  }
}
