package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Now;
import io.osier.propagation.Coverage;
import io.osier.propagation.Propagation;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Holds the requests that wait until other datacenters have what was committed here. Not
 * thread-safe.
 */
final class SpreadWaiters {
  /** The most requests that may wait. */
  static final int WAITING_MAX = 10_000;

  private record Waiting(
      long ticket, long number, VersionVector seen, int datacenters, long deadlineNanos) {}

  private final Propagation propagation;
  private final EffectsBuilder effects;
  private final List<Waiting> waiting = new ArrayList<>();

  /** When the first of these requests times out. */
  private long nextNanos = Long.MAX_VALUE;

  SpreadWaiters(Propagation propagation, EffectsBuilder effects) {
    this.propagation = propagation;
    this.effects = effects;
  }

  /**
   * Answers the request at once or lets it wait. Held updates are shipped now; a request that names
   * its commit number is a repeated one, whose updates left when it was asked first.
   */
  void take(long ticket, ProgressRequest.Spread asked, Now now) {
    long number = asked.number() == 0 ? propagation.committed() : asked.number();
    long millis = Math.clamp(asked.waitMillis(), 0, Request.WAIT_MILLIS_MAX);
    Waiting one =
        new Waiting(
            ticket, number, asked.seen(), asked.datacenters(), now.nanos() + millis * 1_000_000);
    if (isAnswered(one, now)) {
      return;
    }
    if (waiting.size() >= WAITING_MAX) {
      effects.answer(
          ticket,
          new Reply.Failure(
              ErrorCode.OVERLOADED,
              WAITING_MAX
                  + " requests wait for other datacenters already, the most that may; nothing was"
                  + " done, try again later"));
      return;
    }
    if (asked.number() <= 0) {
      propagation.outbound().releaseAll();
    }
    waiting.add(one);
    nextNanos = Math.min(nextNanos, one.deadlineNanos);
  }

  private boolean isAnswered(Waiting one, Now now) {
    Set<String> having = having(one);
    if (having.isEmpty() && propagation.coverage(one.seen) == Coverage.LOST) {
      effects.answer(one.ticket, Commands.lost());
      return true;
    }
    if (having.size() < one.datacenters && now.nanos() < one.deadlineNanos) {
      return false;
    }
    effects.answer(one.ticket, new Reply.Spread(one.number, having));
    return true;
  }

  private Set<String> having(Waiting one) {
    return propagation.status().having(one.number, one.seen);
  }

  /** Another datacenter has told which updates it has. */
  void heard(Now now) {
    if (!waiting.isEmpty()) {
      look(now);
    }
  }

  /** Answers the requests whose time is over. */
  void tick(Now now) {
    if (nextNanos <= now.nanos()) {
      look(now);
    }
  }

  /** Answers the requests whose updates enough datacenters have, or whose time is over. */
  private void look(Now now) {
    waiting.removeIf(one -> isAnswered(one, now));
    nextNanos = Long.MAX_VALUE;
    for (Waiting one : waiting) {
      nextNanos = Math.min(nextNanos, one.deadlineNanos);
    }
  }

  /** Answers all requests with the datacenters so far: nobody may wait any more. */
  void end() {
    for (Waiting one : waiting) {
      effects.answer(one.ticket, new Reply.Spread(one.number, having(one)));
    }
    waiting.clear();
    nextNanos = Long.MAX_VALUE;
  }

  /** Returns when {@link #tick} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    return nextNanos;
  }
}
