package io.osier.datacenter.partition;

import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a transaction does to one object. Not thread-safe. */
final class TransactionWork {
  private final CrdtState base;

  /** Those of earlier steps, or null: shared, so that a step costs what it adds. */
  private final @Nullable TransactionWork before;

  private final List<Operation> operations = new ArrayList<>();
  private CrdtState trial;

  private TransactionWork(CrdtState base, @Nullable TransactionWork before, CrdtState trial) {
    this.base = base;
    this.before = before;
    this.trial = trial;
  }

  /**
   * Nothing so far, to an object as the snapshot has it.
   *
   * @param millis the snapshot's time, in milliseconds since 1970
   */
  static TransactionWork on(CrdtState base, long millis) {
    return new TransactionWork(base, null, base.at(millis));
  }

  /** What a further step does, which may be given up without this. */
  TransactionWork next() {
    return new TransactionWork(base, this, trial);
  }

  /** The object in the snapshot. */
  CrdtState base() {
    return base;
  }

  /** The object with what was done, under numbers that mean nothing to anybody. */
  CrdtState trial() {
    return trial;
  }

  /** What this takes in the heap beyond the object in the snapshot, about, in bytes: O(1). */
  long heapBytes() {
    return Math.max(0, trial.heapBytes() - base.heapBytes());
  }

  /** Does one thing more. */
  void add(Operation operation, CrdtState after) {
    operations.add(operation);
    trial = after;
  }

  /** What is to be done, in order. */
  List<Operation> operations() {
    ArrayDeque<List<Operation>> steps = new ArrayDeque<>();
    for (TransactionWork work = this; work != null; work = work.before) {
      steps.addFirst(work.operations);
    }
    List<Operation> all = new ArrayList<>();
    steps.forEach(all::addAll);
    return all;
  }
}
