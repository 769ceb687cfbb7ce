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
  /** The smallest piece in which waiting bytes leave, so that the other end hears of them soon. */
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

  /** The directions with waiting bytes; a piece of the first is on its way into the link. */
  private final ArrayDeque<SimConnection.Way> turns = new ArrayDeque<>();

  private long queuedBytes;

  /** Counts the pieces that were begun, also again after the bandwidth has changed. */
  private long begun;

  SimLinkQueue(SimLink link, Scheduler scheduler, Random random) {
    this.link = link;
    this.scheduler = scheduler;
    this.random = random;
  }

  /** Takes cargo that a connection sends, in either direction. */
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

  /** Goes on after the link's bandwidth has changed, or it has begun or ceased to hang. */
  void resume() {
    if (!turns.isEmpty()) {
      leaveInTurn();
    }
  }

  /** Lets a piece of the first direction leave, as fast as the link is at present. */
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

  /** Lets answers leave that were held up while the link hung: they take no turns. */
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

  /** Loses all that is under way in one direction, and what waits for its turn. */
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
