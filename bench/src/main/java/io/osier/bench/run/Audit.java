package io.osier.bench.run;

import com.typesafe.config.Config;
import io.osier.bench.systems.Calls;
import io.osier.bench.systems.OsierCalls;
import io.osier.bench.systems.ScenarioException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Keeps account of a load's increments of counters, or of its additions to sets: in the end every
 * node must show what was acknowledged, and nothing that was not sent. Thread-safe.
 */
final class Audit implements Load.Observer {
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final long LOOK_NANOS = 1_000_000;

  /** What may be called beside what is accounted for: it changes nothing. */
  private static final Set<String> READS =
      Set.of("get", "read", "contains", "whole", "size", "page", "read-together", "connect");

  private final String operation;
  private final int elements;
  private final Time time;

  /** What was there before, of each key, or of each element of each set; so are the others. */
  private final long[] before;

  private final AtomicIntegerArray sent;
  private final AtomicIntegerArray acknowledged;

  Audit(Config load, Time time) {
    this.operation = operation(load);
    this.elements = isOfSets() ? load.getInt("elements") : 1;
    this.time = time;
    int size = load.getInt("keys") * elements;
    before = new long[size];
    sent = new AtomicIntegerArray(size);
    acknowledged = new AtomicIntegerArray(size);
  }

  /**
   * Which operation of a load is accounted for.
   *
   * @return increment or add
   * @throws ScenarioException if the load has not just one of them, or changes its objects
   *     otherwise
   */
  static String operation(Config load) {
    List<String> updates = new ArrayList<>(load.getConfig("mix").root().keySet());
    updates.removeAll(READS);
    if (!updates.equals(List.of("increment")) && !updates.equals(List.of("add"))) {
      throw new ScenarioException(
          "load.audit and load.probe need a mix that updates by increment or by add, not by "
              + updates);
    }
    return updates.getFirst();
  }

  private boolean isOfSets() {
    return operation.equals("add");
  }

  /** What is there already is not of this load. */
  void startFrom(Calls calls) {
    for (int at = 0; at < before.length; at++) {
      before[at] = shown(calls, at);
    }
  }

  private long shown(Calls calls, int at) {
    if (isOfSets()) {
      return calls.has(at / elements, at % elements) ? 1 : 0;
    }
    return calls.count(at);
  }

  private void count(AtomicIntegerArray what, String called, int key, long number) {
    if (called.equals(operation)) {
      what.incrementAndGet(
          isOfSets() ? key * elements + OsierCalls.elementOf(number, elements) : key);
    }
  }

  @Override
  public void sent(String called, int key, long number) {
    count(sent, called, key, number);
  }

  @Override
  public void answered(String called, int key, long number, boolean succeeded) {
    if (succeeded) {
      count(acknowledged, called, key, number);
    }
  }

  long acknowledged() {
    long sum = 0;
    for (int i = 0; i < acknowledged.length(); i++) {
      sum += acknowledged.get(i);
    }
    return sum;
  }

  /**
   * Waits until every node shows what was acknowledged, and all show the same; then looks whether
   * they show more than was sent.
   *
   * @return seconds until they do
   * @throws OsierException INTERNAL if something is missing, or not equal, for a minute, if there
   *     is something more, or if nothing was acknowledged
   */
  double await(List<Calls> nodes) {
    if (acknowledged() == 0) {
      throw new OsierException(ErrorCode.INTERNAL, "nothing was acknowledged");
    }
    return settle(nodes);
  }

  /**
   * As {@link #await}, of a load that may have done nothing yet: what comes after it can go by what
   * one node shows.
   */
  double settle(List<Calls> nodes) {
    long start = time.nanos();
    for (int at = 0; at < before.length; at++) {
      awaitEqual(nodes, at);
    }
    double seconds = (time.nanos() - start) / 1e9;
    for (int at = 0; at < before.length; at++) {
      checkSurplus(nodes, at);
    }
    return seconds;
  }

  private void awaitEqual(List<Calls> nodes, int at) {
    long least = before[at] + acknowledged.get(at);
    long wanted = isOfSets() ? Math.min(1, least) : least;
    long deadline = time.nanos() + PATIENCE_NANOS;
    while (true) {
      List<Long> shown = nodes.stream().map(node -> shown(node, at)).toList();
      boolean isMissing = shown.stream().anyMatch(one -> one < wanted);
      if (!isMissing && shown.stream().distinct().count() == 1) {
        return;
      }
      if (time.nanos() > deadline) {
        throw new OsierException(
            ErrorCode.INTERNAL,
            isMissing
                ? "an acknowledged " + what(at) + " is missing: " + wanted + " shown as " + shown
                : "the nodes are not equal: " + what(at) + " is shown as " + shown);
      }
      time.pass(LOOK_NANOS);
    }
  }

  private void checkSurplus(List<Calls> nodes, int at) {
    long most = before[at] + sent.get(at);
    for (Calls node : nodes) {
      long shown = shown(node, at);
      if (shown > most) {
        throw new OsierException(
            ErrorCode.INTERNAL,
            isOfSets()
                ? what(at) + " is there, and nobody has added it"
                : what(at) + " was counted twice: at most " + most + " shown as " + shown);
      }
    }
  }

  private String what(int at) {
    return isOfSets()
        ? "add of element " + at % elements + " to key " + at / elements
        : "increment of key " + at;
  }
}
