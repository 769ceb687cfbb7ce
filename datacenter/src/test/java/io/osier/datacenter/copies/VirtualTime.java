package io.osier.datacenter.copies;

import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;

/** What is to be done later, in the order of its time. */
final class VirtualTime {
  private record Task(long at, long number, Runnable does) implements Comparable<Task> {
    @Override
    public int compareTo(Task o) {
      return at != o.at ? Long.compare(at, o.at) : Long.compare(number, o.number);
    }
  }

  private final PriorityQueue<Task> tasks = new PriorityQueue<>();
  private long tasksMade;
  private long nanos = 5;

  long nanos() {
    return nanos;
  }

  long millis() {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }

  void later(Runnable does, long millis) {
    tasks.add(new Task(nanos + TimeUnit.MILLISECONDS.toNanos(millis), tasksMade++, does));
  }

  /** How many things are to be done later. */
  int pending() {
    return tasks.size();
  }

  void pass(long millis) {
    long until = nanos + TimeUnit.MILLISECONDS.toNanos(millis);
    while (!tasks.isEmpty() && tasks.peek().at <= until) {
      Task next = tasks.remove();
      nanos = Math.max(nanos, next.at);
      next.does.run();
    }
    nanos = until;
  }
}
