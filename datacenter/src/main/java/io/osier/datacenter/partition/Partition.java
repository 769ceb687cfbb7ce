package io.osier.datacenter.partition;

import io.osier.core.Budget;
import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.history.SnapshotHistory;
import io.osier.datacenter.partition.history.VersionHistory;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Machine;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.PeerProgress;
import io.osier.propagation.Propagation;
import io.osier.propagation.host.Forgetting;
import io.osier.propagation.host.ObjectAccess;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.host.PropagationStats;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.host.ReplicationProgress;
import io.osier.propagation.host.StoredObjects;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
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
 *
 * <p>Used by one thread, but for {@link #isReady}.
 */
public final class Partition implements Machine {

  /**
   * How long a partition waits at its start for a peer that it does not hear, or cannot ask. For
   * one that it does not hear that counts from the link's coming up, if that is up.
   */
  public static final long JOIN_NANOS = 3_000_000_000L;

  private static final long READY_CHECK_NANOS = 20_000_000;

  /** How often is looked whether all is here that the others had. */
  private static final long COMPLETE_CHECK_NANOS = 500_000_000;

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

  /** How far the streams had come when that was last to be stored. */
  private ReplicationProgress progress;

  private long progressVersion = -1;

  /** What everybody had of it when that was last to be stored. */
  private long shippedStored = -1;

  /** See {@link PartitionProgress}. */
  private boolean caughtUp;

  /**
   * Whether the store has objects and knows of nothing that it would be complete, as one that was
   * mended: what it had is not to be missed by readers only because nobody is in reach. Where there
   * is nobody any more, who might have it, it is not waited for.
   */
  private final boolean lacksSome;

  /** What was to be stored of it last. */
  private Forgetting unremembered = Forgetting.UNKNOWN;

  private Now now;
  private volatile boolean ready;

  /** Of which peers it has what they had, since it was told of them. */
  private volatile HeardSince heard = new HeardSince(0, PeersHeard.NOBODY);

  private record HeardSince(long number, PeersHeard heard) {}

  private volatile boolean settled;

  /** The telling of the peers since which it has what they had; -1 if none. */
  private volatile long completeSince = -1;

  private long peersNumber;

  /** See {@link #shown}. */
  private volatile Optional<VersionVector> shown = Optional.empty();

  private boolean tellsShown;

  /**
   * A partition that starts now, with the content of its store.
   *
   * @param recovered what else the store kept
   * @param now the time of the start
   */
  public Partition(PartitionConfig config, ObjectStore store, RecoveredState recovered, Now now) {
    this.config = config;
    this.policy = config.policy();
    this.now = now;
    this.ready = config.peers().isEmpty() || recovered.resumed();
    this.caughtUp = ready;
    this.isControl = config.policy().name().equals(KeyspacePolicy.CONTROL);
    this.lacksSome = !ready && recovered.through().isEmpty() && store.size() > 0;
    this.modes = new ModeControl(config, now.nanos());
    this.effects = new EffectsBuilder(config.recording());
    this.propagation =
        new Propagation(
            config.self(),
            config.peers(),
            config.policy(),
            config.streams(),
            recovered,
            new Streamed(),
            config.links().of(effects::send),
            config.observer(),
            now.nanos());
    this.progress = propagation.progress();
    propagation.outbound().onFlush(modes::flushed);
    this.changes =
        new VisibleChanges(
            config.self(), config.isCausal(), propagation, store, remembered(recovered));
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
  }

  private Transactions transactions(SnapshotHistory former) {
    ObjectStore store = objects.store();
    return new Transactions(
        new TransactionHost(store, sequencer, escrow, writes, propagation, effects),
        former,
        store.transactions(),
        new TransactionRoom(new Budget("transactions", config.memory().transactions())),
        new EndedTransactions(
            config.endedTransactions(), new Budget("ended", config.memory().ended())));
  }

  /** Up to where something may have been forgotten; null where others may have done so. */
  private @Nullable VersionVector remembered(RecoveredState recovered) {
    return switch (recovered.forgotten()) {
      case NOTHING -> VersionVector.EMPTY;
      case SOMETHING -> propagation.here();
      case UNKNOWN -> null;
    };
  }

  /** The objects as the streams see them. */
  private final class Streamed implements ObjectAccess {
    /** What was asked for last: the streams join their updates to it. */
    private @Nullable ObjectId asked;

    private @Nullable CrdtState shown;

    @Override
    public @Nullable CrdtState state(ObjectId object) {
      asked = object;
      shown = objects.store().get(object);
      return shown;
    }

    /** What an update was joined to: what the store gives now is made anew if it is packed. */
    private CrdtState joinedTo(ObjectId object) {
      CrdtState state = object.equals(asked) ? shown : objects.store().get(object);
      asked = null;
      shown = null;
      return state == null ? CrdtState.bottom(object.type()) : state;
    }

    @Override
    public void apply(Shipment update, CrdtState joined) {
      ObjectId object = update.object();
      objects.past().admitting(object, joinedTo(object), update.content(), joined, now.nanos());
      sequencer.observe(update.content());
      objects.put(update.object(), joined, now);
      effects.applied(update, joined);
      if (changes.areWanted()) {
        changes.applied(update);
      }
      escrow.changed(update.object());
    }

    @Override
    public void rightsWanted(String dc, Frame.Rights wanted) {
      if (ready) {
        writes.give(dc, wanted, now);
      }
    }

    @Override
    public void admitted() {
      VersionVector visible = propagation.here();
      objects.past().admitted(visible.with(config.self(), 0), now.nanos());
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
      case Input.Command c -> command(c);
      case Input.FromPeer f -> received(f);
      case Input.PeerUp p -> propagation.peerUp(p.peer(), at.nanos());
      case Input.PeerDown p -> propagation.peerDown(p.dc(), at.nanos());
      case Input.Await a -> propagation.status().await(at.nanos());
      case Input.Inspect i -> effects.report(i.ticket(), report(i));
      case Input.Removed r -> r.objects().forEach(o -> objects.forgetting().add(o, at.nanos()));
      case Input.Absorbed a -> a.updates().forEach(u -> writes.absorb(u, now));
      case Input.Configured c -> configure(c);
      case Input.Peers p -> setPeers(p);
      case Input.Cease c -> tellsShown = !sequencer.isRetired() || shown.isEmpty();
      case Input.Retire r -> {
        sequencer.retire();
        escrow.retire();
      }
      case Input.Stay s -> {
        sequencer.stay();
        shown = Optional.empty();
      }
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
      heard = new HeardSince(peersNumber, propagation.status().heard());
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
    peersNumber = changed.number();
    propagation.status().setJoins(changed.joins());
    if (changed.joins()) {
      changes.lacks();
      settled = false;
    }
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
    if (tellsShown) {
      shown = Optional.of(allShown());
      tellsShown = !sequencer.isRetired();
    }
    return effects.take(progressToStore());
  }

  /** What is here; what came beside what is complete may be shown, too. */
  private VersionVector allShown() {
    VersionVector here = propagation.here();
    VersionVector far = propagation.far();
    for (int i = 0; i < far.size(); i++) {
      if (far.number(i) != Long.MAX_VALUE) { // that is: not known
        here = here.raised(far.replica(i), far.number(i));
      }
    }
    return here;
  }

  @Override
  public Optional<VersionVector> shown() {
    return shown;
  }

  @Override
  public List<Waited.Command> takeWaited() {
    return effects.takeWaited();
  }

  /** How far this has come, with every record and whenever it has come further by itself. */
  private Optional<PartitionProgress> progressToStore() {
    if (!config.recording()) {
      return Optional.empty();
    }
    long version = propagation.progressVersion() + (caughtUp ? 1 : 0) + (ready ? 1 : 0);
    boolean tellsShipped =
        objects.store().isDamaged() && propagation.status().shipped() != shippedStored;
    if (version != progressVersion || unremembered != changes.unremembered() || tellsShipped) {
      progressVersion = version;
      progress = progressNow();
      unremembered = changes.unremembered();
    } else if (!effects.hasRecords()) {
      return Optional.empty();
    }
    shippedStored = propagation.status().shipped();
    return Optional.of(
        new PartitionProgress(
            sequencer.committed(),
            sequencer.lastTimestamp(),
            progress,
            propagation.status().shipped(),
            caughtUp,
            unremembered));
  }

  /**
   * How far it has come. What is half fetched of a store that was mended is not stored as fetched:
   * the next start would know no more that something is missing, and fetches it anew.
   */
  private ReplicationProgress progressNow() {
    ReplicationProgress come = propagation.progress();
    return lacksSome && !ready
        ? new ReplicationProgress(VersionVector.EMPTY, Map.of(), come.settled())
        : come;
  }

  @Override
  public void handled(int shipments, long nanos) {
    modes.handled(shipments, nanos);
  }

  private void command(Input.Command command) {
    if (ready) {
      commands.take(command.ticket(), command.request(), now);
    } else {
      commands.refuse(command.ticket());
    }
  }

  private void tick() {
    for (ObjectId object : modes.decide(now.nanos(), propagation.outbound().rounds()::holdNanos)) {
      propagation.outbound().release(object);
    }
    propagation.tick(now.nanos(), now.millis());
    objects.forgetting().sweep(objects.past(), now.nanos());
    changes.expire(now);
    if (ready && !sequencer.isRetired()) {
      expiring.sweep(now);
    }
    writes.exchangeRights(now);
    if (transactions != null) {
      transactions.expire(now);
    }
    objects.past().expire(now.nanos());
    if (!ready
        && propagation.status().isCaughtUp(now.nanos(), JOIN_NANOS)
        && (!lacksSome
            || propagation.status().heard() != PeersHeard.NOBODY
            || propagation.peerNames().isEmpty())) {
      ready = true;
    }
    caughtUp |= ready && propagation.isVerified();
    settled |= propagation.status().isSettled();
    if (changes.forgotten().isEmpty()
        && propagation.status().isSettled()
        && propagation.status().isComplete()) {
      changes.caughtUp();
    }
    if (completeSince != peersNumber && propagation.status().isComplete()) {
      completeSince = peersNumber;
    }
    commands.unpark(now);
    commands.spreading().tick(now);
  }

  @Override
  public long nextTickNanos() {
    long next = Math.min(propagation.nextTickNanos(), modes.nextDecisionNanos());
    next = Math.min(next, objects.forgetting().nextNanos());
    if (ready && !sequencer.isRetired()) {
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
    if (!ready) {
      next = Math.min(next, now.nanos() + READY_CHECK_NANOS);
    } else if (completeSince != peersNumber || changes.forgotten().isEmpty()) {
      next = Math.min(next, now.nanos() + COMPLETE_CHECK_NANOS);
    }
    return next;
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public boolean isSettled() {
    return settled;
  }

  @Override
  public PeersHeard heard(long number) {
    HeardSince last = heard;
    return last.number == number ? last.heard : PeersHeard.NOBODY;
  }

  @Override
  public boolean isComplete(long number) {
    return completeSince == number;
  }

  @Override
  public Optional<VersionVector> forgotten() {
    return changes.forgotten();
  }

  @Override
  public boolean isDrained() {
    return propagation.outbound().isDrained();
  }

  // ---------------------------------------------------------------- what it is doing

  private PartitionReport report(Input.Inspect asked) {
    PropagationStats stats = propagation.stats();
    return new PartitionReport(
        config.partition(),
        new PartitionReport.Content(
            sequencer.committed(),
            objects.store().size(),
            objects.store().forgotten(),
            objects.forgetting().candidates(),
            propagation.here(),
            propagation.status().unseen()),
        new PartitionReport.Snapshots(
            transactions == null ? 0 : transactions.openCount(), objects.past().versions()),
        new PartitionReport.Rights(escrow.waiters(), escrow.denied()),
        new PartitionReport.Modes(
            modes.stateObjects(),
            modes.switches(),
            modes.shipmentCost(),
            modes.hot(asked.hotLimit())),
        new PartitionReport.Shipped(
            propagation.outbound().dirtyObjects(),
            stats.shippedBytes(),
            stats.arrivedBytes(),
            stats.opBytes(),
            stats.opsShipped(),
            stats.statesShipped(),
            stats.catchUpsShipped(),
            propagation.outbound().rounds().coordinationNanos() / 1_000),
        new PartitionReport.Arrived(
            stats.appliedRemote(),
            propagation.waitingUpdates(),
            stats.gapsSeen(),
            stats.healedObjects(),
            stats.pulledObjects(),
            stats.late(),
            stats.visibilityMicros()),
        propagation.status().peers(now.nanos()).stream().map(this::report).toList(),
        memory(),
        new PartitionReport.About(
            commands.parked(), asked.about().stream().flatMap(this::about).toList()));
  }

  /** What is known of an object, if anything is. */
  private Stream<PartitionReport.OneObject> about(ObjectId object) {
    PartitionReport.OneObject one =
        new PartitionReport.OneObject(
            object,
            modes.modeOf(object).label(),
            modes.explain(object, propagation.outbound().rounds().holdNanos()),
            escrow.waiters(object),
            propagation.progress(object, now.nanos()));
    boolean isKnown =
        modes.isMeasured(object) || one.rightsWaiting() > 0 || !one.progress().isDone();
    return isKnown ? Stream.of(one) : Stream.empty();
  }

  /** What is used of each budget, as {@link PartitionReport} has it. */
  public List<Budget.Usage> memory() {
    List<Budget.Usage> open = transactions == null ? List.of() : transactions.memory();
    return Stream.of(propagation.memory(), objects.past().memory(), open)
        .flatMap(List::stream)
        .toList();
  }

  private PartitionReport.Peer report(PeerProgress peer) {
    PropagationStats stats = propagation.stats();
    long slaMillis = policy.sla().toMillis();
    return new PartitionReport.Peer(
        peer.dc(),
        peer.incarnation(),
        peer.connected(),
        peer.stream(),
        new PartitionReport.To(
            peer.lag().updates(),
            peer.lag().bytes(),
            peer.lag().nanos(),
            peer.timeliness(),
            peer.inFlightBytes(),
            peer.sentBytes().getOrDefault(Frame.Kind.OPS, 0L),
            peer.sentBytes().getOrDefault(Frame.Kind.ROUND, 0L),
            peer.sentBytes().getOrDefault(Frame.Kind.CATCH_UP, 0L),
            peer.roundTimes()),
        new PartitionReport.From(
            peer.behindUpdates(),
            peer.unheardNanos(),
            stats.late(peer.dc()),
            stats.delays(peer.dc(), slaMillis)));
  }
}
