package io.osier.datacenter.partition;

import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;

/** Commands that wait until what their session has seen elsewhere has come. Not thread-safe. */
final class ParkedCommands {
  /**
   * A command that waits.
   *
   * @param lacking what of its session's past was not here when it came, in words
   * @param deadlineNanos until when it may wait
   */
  record Parked(
      long ticket, Request request, String lacking, long sinceNanos, long deadlineNanos) {}

  private List<Parked> parked = new ArrayList<>();

  void park(Parked command) {
    parked.add(command);
  }

  List<Parked> takeAll() {
    List<Parked> taken = parked;
    parked = new ArrayList<>();
    return taken;
  }

  boolean isEmpty() {
    return parked.isEmpty();
  }

  int size() {
    return parked.size();
  }

  long nextDeadlineNanos() {
    long next = Long.MAX_VALUE;
    for (Parked p : parked) {
      next = Math.min(next, p.deadlineNanos);
    }
    return next;
  }
}
