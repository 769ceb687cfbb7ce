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
 * Counts a load's increments of counters, or its additions to sets. At the end every node must show
 * each acknowledged update, and none that was not sent. Thread-safe.
 */
final class Audit implements Load.Observer {
  private static final long PATIENCE_NANOS = 60_000_000_000L;
  private static final long LOOK_NANOS = 1_000_000;

  /** Operations that an audited mix may have besides its updates, since they change nothing. */
  private static final Set<String> READS =
      Set.of("get", "read", "contains", "whole", "size", "page", "read-together", "connect");

  private final String operation;
  private final int elements;
  private final Time time;

  /** What a node showed before the load, by key or by element of each set, as the others. */
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
   * Returns the only operation by which a load updates its objects.
   *
   * @return increment or add
   * @throws ScenarioException if the mix has both of them, none, or another update
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

  /** Notes what a node shows before the load begins; it is not counted as the load's. */
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
   * Waits until every node shows all acknowledged updates and all nodes show the same; then checks
   * that no node shows more than was sent.
   *
   * @return seconds until the nodes were equal
   * @throws OsierException INTERNAL if an update is missing or the nodes differ for a minute, if a
   *     node shows more than was sent, or if nothing was acknowledged
   */
  double await(List<Calls> nodes) {
    if (acknowledged() == 0) {
      throw new OsierException(ErrorCode.INTERNAL, "nothing was acknowledged");
    }
    return settle(nodes);
  }

  /**
   * Does as {@link #await}, but allows that nothing was acknowledged. Afterwards all nodes are
   * equal, so the next audit can start from what one of them shows.
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
