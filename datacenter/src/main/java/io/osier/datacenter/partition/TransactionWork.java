package io.osier.datacenter.partition;

import io.osier.crdt.Operation;
import io.osier.crdt.state.CrdtState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The updates of a transaction to one object. Not thread-safe. */
final class TransactionWork {
  private final CrdtState base;

  /** The work of earlier steps, or null. Shared, so that a step costs only what it adds. */
  private final @Nullable TransactionWork before;

  private final List<Operation> operations = new ArrayList<>();
  private CrdtState trial;

  private TransactionWork(CrdtState base, @Nullable TransactionWork before, CrdtState trial) {
    this.base = base;
    this.before = before;
    this.trial = trial;
  }

  /**
   * Returns work without updates, on an object as the snapshot has it.
   *
   * @param millis the snapshot's time, in milliseconds since 1970
   */
  static TransactionWork on(CrdtState base, long millis) {
    return new TransactionWork(base, null, base.at(millis));
  }

  /** Returns work for a further step, which can be given up without changing this. */
  TransactionWork next() {
    return new TransactionWork(base, this, trial);
  }

  /** Returns the object as the snapshot has it. */
  CrdtState base() {
    return base;
  }

  /** Returns the object with the updates, under trial numbers that mean nothing to anybody else. */
  CrdtState trial() {
    return trial;
  }

  /** Returns what this takes in the heap beyond the snapshot's object, about, in bytes: O(1). */
  long heapBytes() {
    return Math.max(0, trial.heapBytes() - base.heapBytes());
  }

  /** Adds an operation. */
  void add(Operation operation, CrdtState after) {
    operations.add(operation);
    trial = after;
  }

  /** Returns the operations of all steps, in order. */
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
