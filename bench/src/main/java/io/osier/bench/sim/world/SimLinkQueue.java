package io.osier.bench.sim.world;

import static io.osier.bench.sim.world.Scheduler.SECOND;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.Random;

/**
 * Takes bytes to the other end of a link. On a narrow link, and behind one that carries nothing,
 * they wait for their turn, and leave in pieces, as fast as the link is by then. The ways of
 * several connections take turns, as TCP shares a link: what is left of a connection that was given
 * up does not keep the next one from beginning. Used by the simulation's thread.
 */
final class SimLinkQueue {
  /** So many bytes of what waits leave together: the other end hears that something comes. */
  private static final int PIECE_BYTES = 1_000;

  /** What waits for its turn. */
  static final class Unsent {
    private final SimCargo cargo;
    private int left;

    private Unsent(SimCargo cargo) {
      this.cargo = cargo;
      this.left = cargo.size();
    }
  }

  private final SimLink link;
  private final Scheduler scheduler;
  private final Random random;

  /** Who has something that waits, the first with a piece on its way into the link. */
  private final ArrayDeque<SimConnection.Way> turns = new ArrayDeque<>();

  private long queuedBytes;

  /** Counts how often the first in the queue was begun, anew where the width has changed. */
  private long begun;

  SimLinkQueue(SimLink link, Scheduler scheduler, Random random) {
    this.link = link;
    this.scheduler = scheduler;
    this.random = random;
  }

  /** Something is given to the link, or to the way back of a connection. */
  void enter(SimConnection.Way way, SimCargo cargo) {
    boolean queues = way.takesTurns() && (link.carries() > 0 || !turns.isEmpty());
    if (!link.isDark() && !queues) {
      travel(way, cargo);
      return;
    }
    boolean begins = turns.isEmpty();
    if (way.unsent().isEmpty()) {
      turns.add(way);
    }
    way.unsent().add(new Unsent(cargo));
    queuedBytes += cargo.size();
    link.waiting(queuedBytes);
    if (begins) {
      leaveInTurn();
    }
  }

  /** The link is wider or narrower than before, or carries something again, or nothing more. */
  void resume() {
    if (!turns.isEmpty()) {
      leaveInTurn();
    }
  }

  /** Lets a piece of who is first leave, and then of the next, as fast as the link is by then. */
  private void leaveInTurn() {
    long ofThis = ++begun;
    if (link.isDark()) {
      return; // begun anew when it carries something again
    }
    letAnswersLeave();
    SimConnection.Way way = turns.peek();
    if (way == null) {
      return;
    }
    Unsent first = way.unsent().element();
    boolean wide = link.carries() == 0;
    long most = Math.max(PIECE_BYTES, link.carries() / 20); // as often as the other end looks
    int piece = wide ? first.left : (int) Math.min(first.left, most);
    scheduler.in(
        wide ? 0 : piece * SECOND / link.carries(),
        () -> {
          if (begun == ofThis) {
            leave(way, piece);
          }
        });
  }

  /** What went the other way while the link carried nothing waits for none of what queues here. */
  private void letAnswersLeave() {
    for (Iterator<SimConnection.Way> it = turns.iterator(); it.hasNext(); ) {
      SimConnection.Way way = it.next();
      if (!way.takesTurns()) {
        it.remove();
        List<Unsent> answers = List.copyOf(way.unsent());
        forget(way);
        answers.forEach(answer -> travel(way, answer.cargo));
      }
    }
  }

  private void forget(SimConnection.Way way) {
    way.unsent().forEach(unsent -> queuedBytes -= unsent.left);
    way.unsent().clear();
  }

  private void leave(SimConnection.Way way, int piece) {
    turns.remove();
    Unsent first = way.unsent().element();
    int at = first.cargo.size() - first.left;
    first.left -= piece;
    queuedBytes -= piece;
    if (first.left == 0) {
      way.unsent().remove();
    }
    if (!way.unsent().isEmpty()) {
      turns.add(way);
    }
    link.waiting(queuedBytes);
    travel(way, first.cargo.part(at, piece));
    resume();
  }

  private void travel(SimConnection.Way way, SimCargo cargo) {
    long now = scheduler.nanos();
    long jitter = link.jitterNanos == 0 ? 0 : (long) (random.nextDouble() * link.jitterNanos);
    long alone = now + link.delayNanos + jitter + link.extraDelayNanos();
    scheduler.in(way.arrivalNanos(alone) - now, () -> way.arrived(cargo));
  }

  /**
   * Bytes have come to an end that is closed: TCP answers with a reset, and then the writer's
   * system drops what has not left. Otherwise the rest of a connection that was given up would fill
   * a narrow link for minutes.
   */
  void refused(SimConnection.Way way) {
    scheduler.in(
        link.delayNanos + link.extraDelayNanos(),
        () -> {
          if (!link.isDark()) { // else bytes that come later are answered
            lose(way);
          }
        });
  }

  /** What a way carries comes to nobody, and what waits for its turn does not leave any more. */
  void lose(SimConnection.Way way) {
    way.lose();
    boolean isFirst = turns.peek() == way;
    turns.remove(way);
    forget(way);
    if (isFirst) {
      leaveInTurn();
    }
  }
}
