package io.osier.datacenter.partition;

import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.core.memory.Budget;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.SnapshotHistory;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.partition.mode.ModeControl;
import io.osier.datacenter.partition.rights.Escrow;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A keyspace's hash slice at one datacenter: sequencer, objects, propagation and adaptation, as one
 * deterministic state machine. What it does is a function of its inputs, their times and its
 * store's content.
 *
 * <p>An update is prepared against the object's current value, gets the next commit number, is
 * joined to the object, journalled, answered and handed to the propagation, all within one input.
 * What waits (operations for the end of the batch, held objects for their deadline, sessions for
 * what they have seen elsewhere) is done by {@link Input.Tick}.
 *
 * <p>A partition that starts without what it had is not ready until it has caught up with its
 * peers, but those that were not heard, or could not be asked, for {@link #JOIN_NANOS} (since the
 * last {@link Input.Await}, or since the link to them came up where that is later): until then
 * commands fail with UNAVAILABLE, which a client answers by going elsewhere.
 */
public final class Partition implements Machine {

  /**
   * How long a partition waits at its start for a peer that it does not hear, or cannot ask. For
   * one that it does not hear that counts from the link's coming up, if that is up.
   */
  public static final long JOIN_NANOS = 3_000_000_000L;

  private static final long HISTORY_CHECK_NANOS = 50_000_000;
  private final PartitionConfig config;
  private final boolean isControl;

  /** How the keyspace behaves now; the configuration's at the start. */
  private KeyspacePolicy policy;

  private final PartitionObjects objects;
  private final ModeControl modes;
  private final Propagation propagation;
  private final Sequencer sequencer;
  private final Escrow escrow;
  private final Writes writes;

  /** Those of a {@code causal} keyspace; null in a {@code session} keyspace, which has none. */
  private final @Nullable Transactions transactions;

  private final Commands commands;
  private final ExpiryRemoval expiring;
  private final EffectsBuilder effects;
  private final VisibleChanges changes;
  private final CatchUpState readiness;
  private final PartitionReports reports;

  /** Null where nothing is stored. */
  private final @Nullable ProgressToStore progress;

  private Now now;

  /**
   * A partition that starts now, with the content of its store.
   *
   * @param recovered what else the store kept
   */
  public Partition(PartitionConfig config, ObjectStore store, RecoveredState recovered, Now now) {
    this.config = config;
    this.policy = config.policy();
    this.now = now;
    this.isControl = config.policy().name().equals(KeyspacePolicy.CONTROL);
    this.modes = new ModeControl(config, now.nanos());
    this.effects = new EffectsBuilder(config.recording());
    this.propagation =
        new Propagation(
            new ReplicationContext(
                config.self(),
                config.peers(),
                config.policy(),
                config.streams(),
                recovered,
                new Streamed(),
                config.links().of(effects::send),
                config.observer()),
            now.nanos());
    propagation.outbound().onFlush(modes::flushed);
    this.changes =
        new VisibleChanges(
            config.self(), config.isCausal(), propagation, store, recovered.forgotten());
    this.readiness =
        new CatchUpState(
            propagation,
            changes,
            config.peers().isEmpty() || recovered.resumed(),
            recovered.through().isEmpty() && store.size() > 0);
    RemovalCollector forgetting =
        new RemovalCollector(store, propagation, effects, changes, config.streams().forgetMillis());
    this.escrow = new Escrow(config.self(), config.peers(), propagation.status()::isSettled);
    SnapshotHistory former =
        config.isCausal()
            ? new SnapshotHistory(
                store,
                config.policy().history().toNanos(),
                new Budget("history", config.memory().history()),
                recovered.through(),
                recovered.committed(),
                now.nanos())
            : null;
    VersionHistory past = former == null ? VersionHistory.NONE : former;
    this.objects = new PartitionObjects(store, past, forgetting);
    this.sequencer =
        new Sequencer(config, objects, modes, propagation, effects, changes, recovered);
    this.progress =
        config.recording()
            ? new ProgressToStore(store, propagation, sequencer, changes, readiness)
            : null;
    this.writes = new Writes(store, sequencer, escrow, propagation, effects);
    this.transactions = former == null ? null : transactions(former);
    this.expiring = new ExpiryRemoval(config.self(), store, writes, propagation);
    this.commands =
        new Commands(
            config.self().dc(),
            store,
            writes,
            new Programs(store, sequencer, escrow, writes),
            transactions,
            propagation,
            changes,
            effects);
    this.reports =
        new PartitionReports(
            config.partition(),
            objects,
            sequencer,
            modes,
            propagation,
            escrow,
            commands,
            transactions);
  }

  private Transactions transactions(SnapshotHistory former) {
    return new Transactions(
        new TransactionHost(objects.store(), sequencer, escrow, writes, propagation, effects),
        former,
        objects.store().transactions(),
        new TransactionRoom(new Budget("transactions", config.memory().transactions())),
        new EndedTransactions(
            config.endedTransactions(),
            !config.policy().replicas().isEmpty(),
            new Budget("ended", config.memory().ended())));
  }

  /** The objects as the streams see them. */
  private final class Streamed implements ObjectAccess {
    @Override
    public @Nullable CrdtState state(ObjectId object) {
      return objects.get(object);
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      sequencer.observe(update.content());
      objects.join(update, joined, now);
      effects.applied(update, joined);
      if (changes.areWanted()) {
        changes.applied(update);
      }
      escrow.changed(update.object());
    }

    @Override
    public void rightsWanted(String dc, Frame.Rights wanted) {
      if (readiness.isReady()) {
        writes.give(dc, wanted, now);
      }
    }

    @Override
    public void admitted() {
      objects.past().admitted(propagation.here().with(config.self(), 0), now.nanos());
      changes.admitted();
    }

    @Override
    public StoredObjects stored() {
      return objects.store();
    }
  }

  @Override
  public void on(Input input, Now at) {
    now = at;
    switch (input) {
      case Input.Command c -> {
        if (readiness.isReady()) {
          commands.take(c.ticket(), c.request(), now);
        } else {
          commands.refuse(c.ticket());
        }
      }
      case Input.FromPeer f -> received(f);
      case Input.PeerUp p -> propagation.peerUp(p.peer(), at.nanos());
      case Input.PeerDown p -> propagation.peerDown(p.dc(), at.nanos());
      case Input.Await a -> propagation.status().await(at.nanos());
      case Input.Inspect i -> effects.report(i.ticket(), reports.of(i, policy, at));
      case Input.Removed r -> r.objects().forEach(o -> objects.forgetting().add(o, at.nanos()));
      case Input.Absorbed a -> a.updates().forEach(u -> writes.absorb(u, now));
      case Input.Configured c -> configure(c);
      case Input.Peers p -> setPeers(p);
      case Input.Cease c -> changes.cease(sequencer.isRetired());
      case Input.Retire r -> {
        sequencer.retire();
        escrow.setGives(true);
      }
      case Input.Stay s -> {
        sequencer.stay();
        escrow.setGives(false);
      }
      case Input.Resume r -> changes.resume();
      case Input.GiveAway g -> g.counters().forEach(c -> writes.giveAway(c, g.heir(), at));
      case Input.Inherit i -> escrow.inherit(i.from(), i.counters());
      case Input.Watched w -> changes.watch(w.life(), now);
      case Input.Untold u -> {
        if (transactions != null) {
          transactions.untold(u.transaction(), u.step());
        }
      }
      case Input.Flush f -> {
        propagation.outbound().flush(at.nanos(), at.millis());
        commands.spreading().end();
      }
      case Input.Tick t -> tick();
    }
    if (isControl) {
      readiness.hear();
    }
  }

  private void received(Input.FromPeer from) {
    propagation.received(from.peer(), from.frame(), now.nanos(), now.millis());
    if (from.frame() instanceof Frame.Status) {
      commands.spreading().heard(now);
    }
  }

  private void setPeers(Input.Peers changed) {
    propagation.setPeers(changed.peers(), now.nanos());
    sequencer.setRank(changed.rank());
    modes.setPeers(changed.peers().size());
    escrow.setSharers(changed.peers(), changed.sharers());
    propagation.status().compareAnew();
    readiness.setPeers(changed.number(), changed.joins());
    tick();
  }

  private void configure(Input.Configured changed) {
    if (!changed.policy().equals(policy)) {
      // What waits leaves as it would have: held objects are held by the former mode and bound.
      propagation.outbound().flush(now.nanos(), now.millis());
    }
    policy = changed.policy();
    modes.configure(policy);
    sequencer.configure(policy);
    propagation.configure(policy, config.streams().within(changed.streams()));
    objects.past().configure(policy.history().toNanos(), changed.memory().history());
    if (transactions != null) {
      transactions.configure(changed.memory().transactions(), changed.memory().ended());
    }
  }

  @Override
  public long gatheredBytes() {
    return effects.committedBytes();
  }

  @Override
  public Effects takeEffects() {
    if (changes.areWanted()) {
      changes.take().ifPresent(effects::visible);
    }
    changes.batchEnded(sequencer.isRetired());
    return effects.take(progress == null ? Optional.empty() : progress.next(effects.hasRecords()));
  }

  @Override
  public Optional<VersionVector> shown() {
    return changes.shown();
  }

  @Override
  public List<Waited.Command> takeWaited() {
    return effects.takeWaited();
  }

  @Override
  public void handled(int shipments, long nanos) {
    modes.handled(shipments, nanos);
  }

  private void tick() {
    for (ObjectId object : modes.decide(now.nanos(), propagation.outbound().rounds()::holdNanos)) {
      propagation.outbound().release(object);
    }
    propagation.tick(now.nanos(), now.millis());
    objects.forgetting().sweep(objects.past(), now.nanos());
    changes.expire(now);
    if (readiness.isReady() && !sequencer.isRetired()) {
      expiring.sweep(now);
    }
    writes.exchangeRights(now);
    if (transactions != null) {
      transactions.expire(now);
    }
    objects.past().expire(now.nanos());
    readiness.tick(now);
    commands.unpark(now);
    commands.spreading().tick(now);
  }

  @Override
  public long nextTickNanos() {
    long next = Math.min(propagation.nextTickNanos(), modes.nextDecisionNanos());
    next = Math.min(next, objects.forgetting().nextNanos());
    if (readiness.isReady() && !sequencer.isRetired()) {
      next = Math.min(next, expiring.nextNanos(now));
    }
    next = Math.min(next, changes.nextNanos(now));
    next = Math.min(next, escrow.nextNanos());
    if (transactions != null) {
      next = Math.min(next, transactions.nextNanos());
    }
    // Not for each former value alone: it costs a look at all that is due.
    next = Math.min(next, Math.max(objects.past().nextNanos(), now.nanos() + HISTORY_CHECK_NANOS));
    next = Math.min(next, commands.nextNanos());
    next = Math.min(next, commands.spreading().nextNanos());
    return Math.min(next, readiness.nextNanos(now));
  }

  @Override
  public boolean isReady() {
    return readiness.isReady();
  }

  @Override
  public boolean isSettled() {
    return readiness.isSettled();
  }

  @Override
  public PeersHeard heard(long number) {
    return readiness.heard(number);
  }

  @Override
  public boolean isComplete(long number) {
    return readiness.isComplete(number);
  }

  @Override
  public Optional<VersionVector> forgotten() {
    return changes.forgotten();
  }

  @Override
  public boolean isDrained() {
    return propagation.outbound().isDrained();
  }

  public List<Budget.Usage> memory() {
    return reports.memory();
  }
}
