package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.time.HybridClock;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Updates;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.mode.ModeControl;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.UpdateObserver;
import io.osier.propagation.send.Outbound;
import java.util.List;
import java.util.Optional;

/**
 * Gives this datacenter's updates their numbers and times, and commits them: joins them to their
 * objects, records them, and hands them to the streams. Not thread-safe.
 */
final class Sequencer {
  private final ReplicaId self;
  private KeyspacePolicy policy;
  private final PartitionObjects objects;
  private final ObjectStore store;
  private final ModeControl modes;
  private final Propagation propagation;
  private final EffectsBuilder effects;
  private final VisibleChanges changes;
  private final UpdateObserver observer;

  /**
   * Has observed every timestamp in the store: a commit is later than all that it can have seen.
   */
  private final HybridClock clock;

  private long committed;
  private boolean retired;

  Sequencer(
      PartitionConfig config,
      PartitionObjects objects,
      ModeControl modes,
      Propagation propagation,
      EffectsBuilder effects,
      VisibleChanges changes,
      RecoveredState recovered) {
    this.self = config.self();
    this.policy = config.policy();
    this.objects = objects;
    this.store = objects.store();
    this.modes = modes;
    this.propagation = propagation;
    this.effects = effects;
    this.changes = changes;
    this.observer = config.observer();
    this.committed = recovered.committed();
    this.clock = clock(config);
    clock.observe(recovered.timestamp());
  }

  /**
   * In a causal keyspace no two datacenters give one timestamp: registers and sets would break the
   * tie by rules of their own, and of two transactions each would win by halves.
   */
  private static HybridClock clock(PartitionConfig config) {
    if (!config.isCausal()) {
      return new HybridClock();
    }
    String self = config.self().dc();
    return new HybridClock(
        (int) config.peers().stream().filter(p -> p.compareTo(self) < 0).count());
  }

  /** From now on no client's update is to be committed. */
  void retire() {
    retired = true;
  }

  /** From now on they are. */
  void stay() {
    retired = false;
  }

  /** Whether no client's update is to be committed. */
  boolean isRetired() {
    return retired;
  }

  /**
   * To be asked before a client's update is committed.
   *
   * @throws OsierException UNAVAILABLE once this is retired
   */
  void checkTakesUpdates() {
    if (retired) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter '" + self.dc() + "' leaves, and takes no updates; others do");
    }
  }

  /** From now on the clock has another rank, which no other datacenter's has. */
  void setRank(int rank) {
    clock.setRank(rank);
  }

  /** Something of another datacenter becomes visible: what is committed from now on is later. */
  void observe(CrdtState content) {
    clock.observe(content.latestTimestamp());
  }

  ReplicaId self() {
    return self;
  }

  /** The number of the last update that was committed. */
  long committed() {
    return committed;
  }

  /** The last commit number, if something of own updates may have been forgotten; or 0. */
  private long forgotten() {
    return store.forgotten() > 0 ? committed : 0;
  }

  /** A timestamp for what is committed next. */
  long timestamp(Now now) {
    return clock.next(now.millis());
  }

  /** The last timestamp that was given or observed. */
  long lastTimestamp() {
    return clock.last();
  }

  /**
   * An update that is ready to be committed.
   *
   * @param before the object before it: the one that {@code after} was made from
   * @param number its commit number
   * @param after the object with it
   * @param count how many updates it is
   * @param sinceNanos when the first of them was acknowledged, or now
   */
  record Prepared(
      ObjectId object,
      CrdtState before,
      long number,
      CrdtState delta,
      CrdtState after,
      int count,
      long sinceNanos) {}

  /**
   * Prepares an update that comes right after what is committed. What is over and is updated is
   * removed by it first.
   *
   * @throws OsierException if the object cannot be updated so
   */
  Prepared prepare(
      ObjectId object, CrdtState before, Operation operation, int count, long sinceNanos, Now now) {
    Updates.Updated updated =
        Updates.updateAt(before, now.millis(), operation, preparation(committed + 1, before, now));
    long number = updated.delta().context().last(self);
    return new Prepared(
        object, before, number, updated.delta(), updated.after(), count, sinceNanos);
  }

  private UpdateContext preparation(long first, CrdtState before, Now now) {
    return preparation(first - 1, timestamp(now), before);
  }

  /**
   * Prepares the removal of what is over of an object.
   *
   * @param millis the time, in milliseconds since 1970
   * @param limit so many of its parts at most
   * @return empty if nothing is
   */
  Optional<Prepared> prepareExpiry(
      ObjectId object, CrdtState before, long millis, int limit, Now now) {
    return Updates.prepareExpiry(before, millis, limit, preparation(committed + 1, before, now))
        .map(
            delta ->
                new Prepared(
                    object,
                    before,
                    delta.context().last(self),
                    delta,
                    before.join(delta),
                    1,
                    now.nanos()));
  }

  /** Prepares an update that changes nothing. */
  Prepared prepareNothing(ObjectId object, CrdtState before, Now now) {
    CrdtState delta =
        Updates.prepareNothing(object.type(), self, committed + 1, before.context().through(self));
    return new Prepared(object, before, committed + 1, delta, before.join(delta), 1, now.nanos());
  }

  /**
   * Prepares an update that comes after others that are prepared and are to be committed with it.
   *
   * @param number of the last of those, or of what is committed
   */
  Prepared prepareAfter(
      long number, ObjectId object, CrdtState before, Operation operation, Now now) {
    CrdtState delta = Updates.prepare(before, operation, preparation(number + 1, before, now));
    long last = delta.context().last(self);
    return new Prepared(object, before, last, delta, before.join(delta), 1, now.nanos());
  }

  /**
   * Makes an update that is to be committed with others. What is over and is updated is removed by
   * it first.
   *
   * @param number of the last of those that come before it, or of what is committed
   * @param timestamp the same for all of them
   * @throws OsierException if the object cannot be updated so
   */
  Updates.Updated update(
      long number, long timestamp, CrdtState before, Operation operation, Now now) {
    return Updates.updateAt(
        before, now.millis(), operation, preparation(number, timestamp, before));
  }

  /**
   * As {@link #update}, concurrent to some of those before it.
   *
   * @param seen the object without those: what the operation replaces or removes is in here
   */
  Updates.Updated updateBeside(
      long number, long timestamp, CrdtState seen, CrdtState before, Operation operation, Now now) {
    CrdtState delta =
        Updates.prepareAt(seen, now.millis(), operation, preparation(number, timestamp, before));
    return new Updates.Updated(delta, before.join(delta));
  }

  /** What an update is prepared with that comes right after a number. */
  UpdateContext preparation(long number, long timestamp, CrdtState before) {
    long predecessor = before.context().through(self);
    return new UpdateContext(
        self, number + 1, predecessor, timestamp, forgotten(), policy.limits().valueBytesMax());
  }

  /**
   * Commits updates that become visible together, in the order of their numbers.
   *
   * @param answered whether a client is answered with the last of the numbers
   */
  void commit(List<Prepared> updates, boolean answered, Now now) {
    long floor = committed + 1;
    committed = updates.getLast().number;
    for (Prepared u : updates) {
      objects.past().committing(u.object, u.before, u.delta, u.after, floor, now.nanos());
    }
    objects.past().committed(committed);
    for (Prepared u : updates) {
      objects.put(u.object, u.after, now);
      boolean held = modes.holdsNext(u.object, now.nanos());
      if (observer.isOn() && observer.follows(u.number)) {
        tell(u, held, answered && u.number == committed);
      }
      Outbound.Committed update =
          propagation.commit(
              u.object,
              u.before.context(),
              u.number,
              floor,
              u.delta,
              u.count,
              held,
              u.sinceNanos,
              now.nanos());
      modes.updated(u.object, update.bytes(), u.after);
      effects.applied(update.shipment(), u.after);
      effects.committed(update.bytes());
      if (changes.areWanted()) {
        changes.committed(u.object, u.number == committed);
      }
    }
  }

  private void tell(Prepared update, boolean held, boolean answered) {
    observer.committed(
        update.object,
        update.number,
        held,
        () -> modes.why(update.object),
        update.sinceNanos,
        answered);
  }

  void configure(KeyspacePolicy changed) {
    policy = changed;
  }

  // ---------------------------------------------------------------- what an update may touch

  /**
   * An object that is to be updated, as it is, be it over or not.
   *
   * @throws OsierException WRONG_TYPE if its key holds another type
   */
  CrdtState present(ObjectId object, Now now) {
    CrdtState state = store.get(object);
    if (state == null || isNothing(state, now)) {
      checkUnused(object, now);
    }
    return state == null ? CrdtState.bottom(object.type()) : state;
  }

  /** A key holds one type, unless two datacenters gave it two at the same time. */
  private void checkUnused(ObjectId object, Now now) {
    for (CrdtState other : store.get(object.key())) {
      if (other.type() != object.type() && !isNothing(other, now)) {
        throw wrongType(object, other.type());
      }
    }
  }

  private static boolean isNothing(CrdtState state, Now now) {
    return state.isNothing(now.millis());
  }

  static OsierException wrongType(ObjectId object, CrdtType actual) {
    return new OsierException(
        ErrorCode.WRONG_TYPE,
        "key '" + object.key() + "' holds a " + actual + ", not a " + object.type());
  }

  /**
   * Checks that an update does not make its object larger than is allowed. A removal is done
   * whatever the size, also where its datacenter is new to the object, and where a counter in a map
   * keeps more of what it was than it had: otherwise nobody could make the object smaller.
   *
   * @throws OsierException VALUE_TOO_LARGE
   */
  void checkSize(ObjectId object, Operation operation, CrdtState before, CrdtState after) {
    long max = policy.limits().objectBytesMax();
    boolean removes =
        operation instanceof Operation.Clear || operation instanceof Operation.RemoveFields;
    if (after.sizeBytes() > max && !removes && after.contentBytes() > before.contentBytes()) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the update would make '"
              + object.key()
              + "' "
              + after.sizeBytes()
              + " bytes large; keyspace '"
              + policy.name()
              + "' allows "
              + max);
    }
  }
}
