package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
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
   * This clock has observed every timestamp in the store, so a commit is later than all that it can
   * have seen.
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
   * In a causal keyspace no two datacenters give the same timestamp. Otherwise registers and sets
   * would break the tie each by a rule of its own, and each of two transactions would win in part.
   */
  private static HybridClock clock(PartitionConfig config) {
    if (!config.isCausal()) {
      return new HybridClock();
    }
    String self = config.self().dc();
    return new HybridClock(
        (int) config.peers().stream().filter(p -> p.compareTo(self) < 0).count());
  }

  /** Refuses clients' updates from now on. */
  void retire() {
    retired = true;
  }

  /** Takes clients' updates again. */
  void stay() {
    retired = false;
  }

  /** Returns whether clients' updates are refused. */
  boolean isRetired() {
    return retired;
  }

  /**
   * Checks that clients' updates may be committed.
   *
   * @throws OsierException UNAVAILABLE after {@link #retire}
   */
  void checkTakesUpdates() {
    if (retired) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "datacenter '"
              + self.dc()
              + "' is leaving the cluster and takes no updates; use another datacenter");
    }
  }

  /** Gives the clock another rank, which no other datacenter's clock has. */
  void setRank(int rank) {
    clock.setRank(rank);
  }

  /**
   * Observes the timestamps of another datacenter's update that becomes visible: later commits get
   * later timestamps.
   */
  void observe(CrdtState content) {
    clock.observe(content.latestTimestamp());
  }

  ReplicaId self() {
    return self;
  }

  /** Returns the number of the last committed update. */
  long committed() {
    return committed;
  }

  /**
   * Returns the last commit number if some of this datacenter's updates may have been forgotten;
   * otherwise 0.
   */
  private long forgotten() {
    return store.forgotten() > 0 ? committed : 0;
  }

  /** Returns a timestamp for the next commit. */
  long timestamp(Now now) {
    return clock.next(now.millis());
  }

  /** Returns the last timestamp that was given or observed. */
  long lastTimestamp() {
    return clock.last();
  }

  /**
   * An update that is ready to be committed.
   *
   * @param before the object before the update: the very state that {@code after} was made from
   * @param number its commit number
   * @param after the object with the update
   * @param count how many clients' updates it stands for
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
   * Prepares an update that comes right after the last commit. If it touches something that has
   * expired, it removes that first.
   *
   * @throws OsierException if the object does not allow this operation
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
   * Prepares the removal of an object's expired parts.
   *
   * @param millis the time, in milliseconds since 1970
   * @param limit the most parts to remove
   * @return empty if nothing has expired
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
   * Prepares an update that will be committed together with updates prepared before it.
   *
   * @param number of the last of these, or of the last commit
   */
  Prepared prepareAfter(
      long number, ObjectId object, CrdtState before, Operation operation, Now now) {
    CrdtState delta = Updates.prepare(before, operation, preparation(number + 1, before, now));
    long last = delta.context().last(self);
    return new Prepared(object, before, last, delta, before.join(delta), 1, now.nanos());
  }

  /**
   * Makes an update that will be committed together with others. If it touches something that has
   * expired, it removes that first.
   *
   * @param number of the last update before it, committed or not
   * @param timestamp the common timestamp of these updates
   * @throws OsierException if the object does not allow this operation
   */
  Updates.Updated update(
      long number, long timestamp, CrdtState before, Operation operation, Now now) {
    return Updates.updateAt(
        before, now.millis(), operation, preparation(number, timestamp, before));
  }

  /**
   * As {@link #update}, for an update that is concurrent to some of those before it.
   *
   * @param seen the object without these: the operation replaces or removes only what is in it
   */
  Updates.Updated updateBeside(
      long number, long timestamp, CrdtState seen, CrdtState before, Operation operation, Now now) {
    CrdtState delta =
        Updates.prepareAt(seen, now.millis(), operation, preparation(number, timestamp, before));
    return new Updates.Updated(delta, before.join(delta));
  }

  /** Returns the context for preparing the update that follows the given number. */
  UpdateContext preparation(long number, long timestamp, CrdtState before) {
    long predecessor = before.context().through(self);
    return new UpdateContext(
        self, number + 1, predecessor, timestamp, forgotten(), policy.limits().valueBytesMax());
  }

  /**
   * Commits updates that become visible together, in the order of their numbers.
   *
   * @param answered whether a client gets the last number in an answer
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

  // ---------------------------------------------------------------- checks of an update

  /**
   * Returns the object that will be updated, expired or not.
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

  /**
   * Checks that the key holds no other type. It holds one type, unless two datacenters gave it
   * different ones at the same time.
   */
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
   * Checks that no home is being added that would take the key. A key is deleted, and expires, all
   * the same.
   *
   * @throws OsierException UNAVAILABLE if one is
   */
  void checkHome(Key key) {
    Homes homes = policy.partitioning().homes();
    String taker = homes.taker(key);
    if (!taker.isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          ("nothing was done with key '%s': home '%s' is being added to keyspace '%s', and will"
                  + " take it; try again")
              .formatted(key, taker, Homes.base(policy.name())));
    }
  }

  /**
   * Checks that an update does not make its object larger than is allowed. A removal is allowed
   * whatever the size, even if it makes the object larger, as when its datacenter is new to the
   * object's context or when a counter in a map keeps more metadata than it had: otherwise nobody
   * could make the object smaller.
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
