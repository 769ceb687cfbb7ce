package io.osier.datacenter.partition;

import static java.util.Objects.requireNonNull;

import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.datacenter.partition.Sequencer.Prepared;
import io.osier.datacenter.partition.history.HeldEntries;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Gives transactions what they need of the partition: objects, rights, commits. Not thread-safe.
 */
final class TransactionHost {
  private final ObjectStore store;
  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Writes writes;
  private final Propagation propagation;
  private final EffectsBuilder effects;

  TransactionHost(
      ObjectStore store,
      Sequencer sequencer,
      Escrow escrow,
      Writes writes,
      Propagation propagation,
      EffectsBuilder effects) {
    this.store = store;
    this.sequencer = sequencer;
    this.escrow = escrow;
    this.writes = writes;
    this.propagation = propagation;
    this.effects = effects;
  }

  ReplicaId self() {
    return sequencer.self();
  }

  VersionVector clock() {
    return propagation.here();
  }

  /** Returns the last commit number. */
  long committed() {
    return sequencer.committed();
  }

  /** Completes an operation with what only the datacenter knows. */
  Operation filled(CrdtState state, Operation operation) {
    return escrow.filled(state, operation);
  }

  /**
   * Sets rights of a bounded counter aside.
   *
   * @throws OsierException NOT_ENOUGH_RIGHTS
   */
  Escrow.Reservation reserve(ObjectId object, Operation operation, Now now) {
    CrdtState state = sequencer.present(object, now);
    if (!escrow.isCovered(object, state, operation)) {
      writes.ask(object, state, operation, now);
      throw escrow.lacking(object, state, operation);
    }
    return escrow.reserve(object, operation);
  }

  /** Releases rights that were set aside. */
  void release(Escrow.Reservation reservation) {
    escrow.release(reservation);
  }

  /** Checks that an object stays within its limits with a trial update. */
  void checkSize(ObjectId object, Operation operation, CrdtState before, CrdtState after) {
    sequencer.checkSize(object, operation, before, after);
  }

  /** Commits updates, all or none; returns the last commit number. */
  long commit(TransactionId id, Map<ObjectId, TransactionWork> updates, Now now) {
    sequencer.checkTakesUpdates();
    List<Prepared> prepared = new ArrayList<>();
    long next = sequencer.committed() + 1;
    long timestamp = sequencer.timestamp(now);
    for (Map.Entry<ObjectId, TransactionWork> e : updates.entrySet()) {
      next = prepare(e.getKey(), e.getValue(), next, timestamp, prepared, now);
    }
    sequencer.commit(prepared, true, now);
    updates.forEach(
        (object, work) -> {
          if (object.type() == CrdtType.BOUNDED_COUNTER) {
            CrdtState after = requireNonNull(store.get(object), "what was committed is here");
            work.operations().forEach(o -> escrow.used(object, after, o));
          }
        });
    effects.committed(id, sequencer.committed());
    return sequencer.committed();
  }

  /**
   * Prepares a transaction's updates of one object. An update removes or replaces what the
   * transaction saw in its snapshot; what was committed since is concurrent to it. Only a counter's
   * sum of this replica goes on from the present state, and removes nothing.
   */
  private long prepare(
      ObjectId object,
      TransactionWork work,
      long first,
      long timestamp,
      List<Prepared> prepared,
      Now now) {
    CrdtState stored = store.get(object);
    CrdtState present = stored == null ? CrdtState.bottom(object.type()) : stored;
    CrdtState seen = work.base();
    long next = first;
    // The object had not expired when the update was tried, or its removal is still to come.
    Optional<CrdtState> ended =
        Updates.prepareRemoval(
            present, now.millis(), work.operations(), preparation(next, present, timestamp));
    if (ended.isPresent()) {
      CrdtState removal = ended.get();
      next = removal.context().last(self()) + 1;
      CrdtState before = present;
      present = present.join(removal);
      seen = seen.join(removal);
      prepared.add(new Prepared(object, before, next - 1, removal, present, 1, now.nanos()));
    }
    boolean unchanged = seen.context().equals(present.context());
    if (!unchanged) {
      HeldEntries.checkSame(seen);
    }
    for (Operation asked : work.operations()) {
      // The datacenters that share a new counter's rights may have changed since the trial.
      Operation operation =
          asked instanceof Operation.Bound ? escrow.filled(present, asked) : asked;
      CrdtState before = present;
      List<CrdtState> deltas = new ArrayList<>();
      for (Operation part : unchanged ? List.of(operation) : operation.parts()) {
        CrdtState from = unchanged || part.isSum() ? present : seen;
        CrdtState made =
            Updates.prepareAt(from, now.millis(), part, preparation(next, present, timestamp));
        next = made.context().last(self()) + 1;
        present = present.join(made);
        seen = unchanged ? present : seen.join(made);
        deltas.add(made);
      }
      CrdtState delta = CrdtState.join(deltas);
      prepared.add(new Prepared(object, before, next - 1, delta, present, 1, now.nanos()));
    }
    return next;
  }

  /** Returns the context for preparing an update, on trial or for its commit. */
  UpdateContext preparation(long first, CrdtState before, long timestamp) {
    return sequencer.preparation(first - 1, timestamp, before);
  }
}
