package io.osier.datacenter.partition;

import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;

/** Commands that wait until what their session has seen elsewhere has come. Not thread-safe. */
final class ParkedCommands {
  /** A command with the time until which it may wait. */
  record Parked(long ticket, Request request, long deadlineNanos) {}

  private List<Parked> parked = new ArrayList<>();

  void park(long ticket, Request request, long deadlineNanos) {
    parked.add(new Parked(ticket, request, deadlineNanos));
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
