package io.osier.datacenter.partition;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.HybridClock;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.Frame;
import io.osier.propagation.FrameCodec;
import io.osier.propagation.Progress;
import io.osier.propagation.Propagation;
import io.osier.propagation.Propagation.Coverage;
import io.osier.propagation.PropagationStats;
import io.osier.propagation.Recovered;
import io.osier.propagation.Replica;
import io.osier.propagation.Shipment;
import io.osier.propagation.out.Outbound;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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
 * peers, or none was heard for {@link #JOIN_NANOS}: until then commands fail with UNAVAILABLE,
 * which a client answers by going elsewhere.
 *
 * <p>Used by one thread, but for {@link #isReady}.
 */
public final class Partition implements Machine {
  private static final Logger LOG = LoggerFactory.getLogger(Partition.class);

  /** How long after its start a partition waits to hear of its peers before it serves alone. */
  public static final long JOIN_NANOS = 3_000_000_000L;

  private static final long READY_CHECK_NANOS = 20_000_000;

  private static final long HISTORY_CHECK_NANOS = 50_000_000;

  /** Most commands that may wait for what their session has seen elsewhere. */
  static final int PARKED_MAX = 10_000;

  private final PartitionConfig config;
  private final ObjectStore store;

  /**
   * Has observed every timestamp in the store: a commit is later than all that it can have seen.
   */
  private final HybridClock clock;

  private final ModeControl modes;
  private final Propagation propagation;
  private final Parking parking = new Parking();
  private final Forgetting forgetting;

  /** Null in a session keyspace. */
  private final History history;

  /** Null in a session keyspace. */
  private final Transactions transactions;

  private final Escrow escrow;
  private long committed;
  private long parkedVersion;

  /** How far the streams had come when that was last to be stored. */
  private Progress progress;

  private long progressVersion = -1;
  private final EffectsBuilder effects;
  private Now now;
  private volatile boolean ready;

  /**
   * A partition that starts now, with the content of its store.
   *
   * @param recovered what else the store kept
   * @param now the time of the start
   */
  public Partition(PartitionConfig config, ObjectStore store, Recovered recovered, Now now) {
    this.config = config;
    this.store = store;
    this.now = now;
    this.committed = recovered.committed();
    this.clock = clock(config);
    this.clock.observe(recovered.timestamp());
    this.ready = config.peers().isEmpty() || recovered.resumed();
    this.modes = new ModeControl(config, now.nanos());
    this.effects = new EffectsBuilder(config.recording());
    this.forgetting = new Forgetting(store, effects, config.streams().forgetMillis());
    this.propagation =
        new Propagation(
            config.self(),
            config.peers(),
            config.policy(),
            config.streams(),
            recovered,
            new Objects(),
            shipment -> FrameCodec.sizeOf(config.self(), shipment),
            effects::send,
            now.nanos());
    this.escrow = new Escrow(config.self(), config.peers(), propagation::isSettled);
    boolean causal = config.policy().consistency() == KeyspacePolicy.Consistency.CAUSAL;
    this.history =
        causal
            ? new History(
                store,
                config.policy().history().toNanos(),
                recovered.through(),
                committed,
                now.nanos())
            : null;
    this.transactions =
        causal
            ? new Transactions(new TransactionHost(), history, config.endedTransactions())
            : null;
    if (causal) {
      transactions.recovered(store.transactions());
    }
    propagation.onFlush((object, updates, bytes) -> modes.flushed(object, updates, bytes));
  }

  /**
   * In a causal keyspace no two datacenters give one timestamp: registers and sets would break the
   * tie by rules of their own, and of two transactions each would win by halves.
   */
  private static HybridClock clock(PartitionConfig config) {
    if (config.policy().consistency() != KeyspacePolicy.Consistency.CAUSAL) {
      return new HybridClock();
    }
    String self = config.self().dc();
    return new HybridClock(
        (int) config.peers().stream().filter(p -> p.compareTo(self) < 0).count());
  }

  /** The objects as the streams see them. */
  private final class Objects implements Replica {
    @Override
    public Causal state(ObjectId object) {
      return store.get(object);
    }

    @Override
    public void apply(Shipment update, Causal joined) {
      if (history != null) {
        history.replaced(update.object().key(), history.stepOfAdmission(), now.nanos());
      }
      clock.observe(update.content().latestTimestamp());
      store.put(update.object(), joined);
      forgetting.changed(update.object(), joined, now.nanos());
      effects.applied(update, joined);
      escrow.changed(update.object());
    }

    @Override
    public void rightsWanted(String dc, Frame.Rights wanted) {
      give(dc, wanted);
    }

    @Override
    public void admitted() {
      VersionVector clock = propagation.through();
      history.admitted(clock.with(config.self(), 0), now.nanos());
    }

    @Override
    public List<Logged> logged(long after, int limit) {
      return store.logged(after, limit);
    }

    @Override
    public List<Entry> scan(Optional<ObjectId> after, int limit) {
      return store.scan(after, limit).stream().map(e -> new Entry(e.object(), e.state())).toList();
    }
  }

  @Override
  public void on(Input input, Now at) {
    now = at;
    switch (input) {
      case Input.Command c -> command(c.ticket(), c.request(), at.nanos());
      case Input.FromPeer f -> propagation.received(f.peer(), f.frame(), at.nanos(), at.millis());
      case Input.PeerUp p -> propagation.peerUp(p.peer(), at.nanos());
      case Input.PeerDown p -> propagation.peerDown(p.dc(), at.nanos());
      case Input.Inspect i -> effects.report(i.ticket(), report(i.hotLimit()));
      case Input.Removed r -> r.objects().forEach(o -> forgetting.add(o, at.nanos()));
      case Input.Absorbed a -> a.updates().forEach(this::absorb);
      case Input.Flush f -> propagation.flush(at.nanos(), at.millis());
      case Input.Tick t -> tick();
    }
  }

  @Override
  public Effects takeEffects() {
    return effects.take(progressToStore());
  }

  /** How far this has come, with every record and whenever it has come further by itself. */
  private Optional<PartitionProgress> progressToStore() {
    if (!config.recording()) {
      return Optional.empty();
    }
    long version = propagation.progressVersion();
    if (version != progressVersion) {
      progressVersion = version;
      progress = propagation.progress();
    } else if (!effects.hasRecords()) {
      return Optional.empty();
    }
    return Optional.of(
        new PartitionProgress(committed, clock.last(), progress, propagation.shipped()));
  }

  @Override
  public void handled(int shipments, long nanos) {
    modes.handled(shipments, nanos);
  }

  private void tick() {
    for (ObjectId object : modes.decide(now.nanos(), propagation)) {
      propagation.release(object);
    }
    propagation.tick(now.nanos(), now.millis());
    forgetting.sweep(propagation, now.nanos());
    exchangeRights();
    if (history != null) {
      transactions.expire(now.nanos());
      history.expire(now.nanos());
    }
    if (!ready && propagation.isCaughtUp(now.nanos(), JOIN_NANOS)) {
      ready = true;
    }
    if (!parking.isEmpty()) {
      unpark();
    }
  }

  @Override
  public long nextTickNanos() {
    long next = Math.min(propagation.nextTickNanos(), modes.nextDecisionNanos());
    next = Math.min(next, forgetting.nextNanos());
    next = Math.min(next, escrow.nextNanos());
    if (history != null) {
      // Not for each value alone: it costs a look at all that is due.
      next = Math.min(next, transactions.nextNanos());
      next = Math.min(next, Math.max(history.nextNanos(), now.nanos() + HISTORY_CHECK_NANOS));
    }
    if (!ready) {
      next = Math.min(next, now.nanos() + READY_CHECK_NANOS);
    }
    if (!parking.isEmpty()) {
      next =
          propagation.version() != parkedVersion
              ? now.nanos()
              : Math.min(next, parking.nextDeadlineNanos());
    }
    return next;
  }

  @Override
  public boolean isReady() {
    return ready;
  }

  @Override
  public boolean isDrained() {
    return propagation.isDrained();
  }

  // ---------------------------------------------------------------- commands

  private void command(long ticket, Request request, long arrivedNanos) {
    if (!ready) {
      fail(
          ticket,
          ErrorCode.UNAVAILABLE,
          config.self().dc() + " has just started and is catching up with the other datacenters");
      return;
    }
    VersionVector after = after(request);
    Coverage coverage = after.isEmpty() ? Coverage.HERE : propagation.coverage(after);
    switch (coverage) {
      case HERE -> serve(ticket, request);
      case LOST -> lost(ticket);
      case NOT_YET -> {
        long deadline = arrivedNanos + waitMillis(request) * 1_000_000L;
        if (deadline <= now.nanos()) {
          behind(ticket, after);
        } else if (parking.size() >= PARKED_MAX) {
          fail(ticket, ErrorCode.OVERLOADED, PARKED_MAX + " requests wait for updates already");
        } else {
          parking.park(ticket, request, deadline);
          parkedVersion = propagation.version();
        }
      }
    }
  }

  private void unpark() {
    parkedVersion = propagation.version();
    for (Parking.Parked parked : parking.takeAll()) {
      VersionVector after = after(parked.request());
      switch (propagation.coverage(after)) {
        case HERE -> serve(parked.ticket(), parked.request());
        case LOST -> lost(parked.ticket());
        case NOT_YET -> {
          if (parked.deadlineNanos() <= now.nanos()) {
            behind(parked.ticket(), after);
          } else {
            parking.park(parked.ticket(), parked.request(), parked.deadlineNanos());
          }
        }
      }
    }
  }

  private static VersionVector after(Request request) {
    return switch (request) {
      case Request.Read r -> r.after();
      case Request.Write w -> w.after();
      case Request.Transact t -> t.begin().map(Request.Begin::clock).orElse(VersionVector.EMPTY);
      case Request.Repeat r -> after(r.step());
      default -> VersionVector.EMPTY;
    };
  }

  private static long waitMillis(Request request) {
    return switch (request) {
      case Request.Read r -> r.waitMillis();
      case Request.Write w -> w.waitMillis();
      case Request.Transact t -> t.begin().map(Request.Begin::waitMillis).orElse(0);
      case Request.Repeat r -> waitMillis(r.step());
      default -> 0;
    };
  }

  private void behind(long ticket, VersionVector after) {
    fail(
        ticket,
        ErrorCode.SESSION_BEHIND,
        config.self().dc()
            + " has not yet received what this session has seen elsewhere: it has "
            + propagation.through()
            + ", the session needs "
            + after
            + "; wait until it comes, forget what was seen, or let the session go on without it");
  }

  private void lost(long ticket) {
    fail(
        ticket,
        ErrorCode.SESSION_LOST,
        "this session has seen updates that were lost, or may have been, with a datacenter's memory"
            + " before it had shipped everything; forget what was seen, or let the session go on without it");
  }

  private void fail(long ticket, ErrorCode code, String message) {
    effects.answer(ticket, new Reply.Failure(code, message));
  }

  private void serve(long ticket, Request request) {
    try {
      switch (request) {
        case Request.Read r -> effects.answer(ticket, Reading.of(store.get(r.key()), r));
        case Request.Write w -> write(ticket, w, now.nanos());
        case Request.Transact t -> effects.answer(ticket, transactions().step(t, now.nanos()));
        case Request.Repeat r -> effects.answer(ticket, transactions().repeat(r, now.nanos()));
        case Request.Through t -> effects.answer(ticket, new Reply.Through(propagation.through()));
        default ->
            fail(
                ticket,
                ErrorCode.INVALID_ARGUMENT,
                "a partition does not serve " + request.getClass().getSimpleName());
      }
    } catch (OsierException e) {
      fail(ticket, e.code(), e.getMessage());
    }
  }

  private Causal stateForUpdate(ObjectId object) {
    Causal state = store.get(object);
    if (state == null || state.isBottom()) {
      checkUnused(object);
    }
    return state == null ? Causal.bottom(object.type()) : state;
  }

  private void write(long ticket, Request.Write write, long arrivedNanos) {
    ObjectId object = new ObjectId(write.key(), write.type());
    Causal before = stateForUpdate(object);
    if (object.type() == CrdtType.BOUNDED_COUNTER
        && !escrow.isCovered(object, before, write.operation())) {
      lackRights(ticket, write, object, before, arrivedNanos);
      return;
    }
    effects.answer(ticket, write(object, before, write.operation()));
  }

  /** Commits an update, or throws before anything has changed. */
  private Reply write(ObjectId object, Causal before, Operation asked) {
    Operation operation = escrow.filled(asked);
    CausalContext context = before.context();
    Causal delta =
        before.prepare(
            operation,
            config.self(),
            committed + 1,
            context.through(config.self()),
            clock.next(now.millis()),
            store.forgotten() > 0 ? committed : 0);
    Causal after = before.join(delta);
    checkSize(object, before, after);

    long number = delta.context().last(config.self());
    commit(List.of(new Prepared(object, context, number, delta, after, 1, now.nanos())));
    if (object.type() == CrdtType.BOUNDED_COUNTER) {
      escrow.used(object, after, operation);
      escrow.changed(object);
    }
    return new Reply.Done(new Dot(config.self(), number));
  }

  /**
   * An update that is ready to be committed.
   *
   * @param before the object's context before it
   * @param number its commit number
   * @param after the object with it
   * @param count how many updates it is
   * @param sinceNanos when the first of them was acknowledged, or now
   */
  private record Prepared(
      ObjectId object,
      CausalContext before,
      long number,
      Causal delta,
      Causal after,
      int count,
      long sinceNanos) {}

  /** Commits what is acknowledged already; whether it fits was checked when it was. */
  private void absorb(Input.Absorbed.Update update) {
    ObjectId object = update.object();
    Causal stored = store.get(object);
    Causal before = stored == null ? Causal.bottom(object.type()) : stored;
    try {
      CausalContext context = before.context();
      Causal delta =
          before.prepare(
              update.operation(),
              config.self(),
              committed + 1,
              context.through(config.self()),
              clock.next(now.millis()),
              store.forgotten() > 0 ? committed : 0);
      Causal after = before.join(delta);
      long number = delta.context().last(config.self());
      commit(
          List.of(
              new Prepared(
                  object, context, number, delta, after, update.count(), update.sinceNanos())));
    } catch (OsierException e) {
      // Only if others moved a counter over half the range of a long in a fraction of the SLA.
      LOG.error("{} acknowledged updates of {} are lost", update.count(), object, e);
    }
  }

  /** Commits updates that become visible together, in the order of their numbers. */
  private void commit(List<Prepared> updates) {
    long floor = committed + 1;
    committed = updates.getLast().number;
    if (history != null) {
      // A clock may end with any of its numbers, and contains all of it.
      long step = history.stepOfCommit(floor);
      for (Prepared u : updates) {
        history.replaced(u.object.key(), step, now.nanos());
      }
      history.committed(committed);
    }
    for (Prepared u : updates) {
      store.put(u.object, u.after);
      forgetting.changed(u.object, u.after, now.nanos());
      boolean hold = modes.holds(u.object);
      Outbound.Committed update =
          propagation.commit(
              u.object,
              u.before,
              u.number,
              floor,
              u.delta,
              u.count,
              hold,
              u.sinceNanos,
              now.nanos());
      modes.updated(u.object, update.bytes(), u.after);
      effects.applied(update.shipment(), u.after);
    }
  }

  // ---------------------------------------------------------------- rights of bounded counters

  private void lackRights(
      long ticket, Request.Write write, ObjectId object, Causal state, long arrivedNanos) {
    escrow.wantedFor(object, state, write.operation(), now.nanos()).ifPresent(this::ask);
    long wait =
        write.operation() instanceof Operation.IncrementWithin i ? i.waitMillis() * 1_000_000L : 0;
    if (arrivedNanos + wait <= now.nanos()) {
      throw escrow.lacking(object, state, write.operation());
    }
    escrow.wait(object, new Escrow.Waiter(ticket, write, arrivedNanos + wait));
  }

  /** Gives rights to a datacenter that asks for them, and sees to it that it gets them soon. */
  private void give(String dc, Frame.Rights wanted) {
    ObjectId object = wanted.object();
    Causal state = object.type() == CrdtType.BOUNDED_COUNTER ? store.get(object) : null;
    long amount = state == null || !ready ? 0 : escrow.grant(dc, wanted, state);
    if (amount > 0) {
      try {
        write(object, state, new Operation.Transfer(dc, amount, wanted.upward()));
        propagation.release(object);
      } catch (OsierException e) {
        // As if there were none to spare: a request must not stop who is asked.
        LOG.debug("gives {} no rights of {}: {}", dc, object, e.getMessage());
      }
    }
  }

  private void exchangeRights() {
    for (Escrow.Waiter waiter : escrow.due(now.nanos())) {
      ObjectId object = new ObjectId(waiter.write().key(), waiter.write().type());
      try {
        Causal state = stateForUpdate(object);
        if (escrow.isCovered(object, state, waiter.write().operation())) {
          effects.answer(waiter.ticket(), write(object, state, waiter.write().operation()));
        } else if (waiter.deadlineNanos() <= now.nanos()) {
          throw escrow.lacking(object, state, waiter.write().operation());
        } else {
          escrow
              .wantedFor(object, state, waiter.write().operation(), now.nanos())
              .ifPresent(this::ask);
          escrow.wait(object, waiter);
        }
      } catch (OsierException e) {
        fail(waiter.ticket(), e.code(), e.getMessage());
      }
    }
    escrow
        .takeLow()
        .forEach(
            (object, upward) ->
                escrow
                    .wantedToBalance(object, store.get(object), upward, now.nanos())
                    .ifPresent(this::ask));
  }

  private void ask(Escrow.Wanted wanted) {
    long left = wanted.amount();
    for (Escrow.Holder holder : wanted.holders()) {
      if (left <= 0) {
        break;
      }
      long amount = Math.min(left, holder.rights());
      Frame.Rights frame = new Frame.Rights(wanted.object(), amount, wanted.upward());
      left -= propagation.ask(holder.dc(), frame) ? amount : 0;
    }
  }

  // ---------------------------------------------------------------- transactions

  private Transactions transactions() {
    if (transactions == null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'"
              + config.policy().name()
              + "' is a session keyspace; transactions need one with consistency = causal");
    }
    return transactions;
  }

  /** What the partition does for its transactions. */
  private final class TransactionHost implements Transactions.Host {
    @Override
    public ReplicaId self() {
      return config.self();
    }

    @Override
    public VersionVector clock() {
      return propagation.through();
    }

    @Override
    public long forgotten() {
      return store.forgotten() > 0 ? committed : 0;
    }

    @Override
    public Operation filled(Operation operation) {
      return escrow.filled(operation);
    }

    @Override
    public Escrow.Reservation reserve(ObjectId object, Operation operation) {
      Causal state = stateForUpdate(object);
      if (!escrow.isCovered(object, state, operation)) {
        escrow.wantedFor(object, state, operation, now.nanos()).ifPresent(Partition.this::ask);
        throw escrow.lacking(object, state, operation);
      }
      return escrow.reserve(object, operation);
    }

    @Override
    public void release(Escrow.Reservation reservation) {
      escrow.release(reservation);
    }

    @Override
    public void checkSize(ObjectId object, Causal before, Causal after) {
      Partition.this.checkSize(object, before, after);
    }

    @Override
    public long commit(TransactionId id, Map<ObjectId, Transactions.Work> updates) {
      List<Prepared> prepared = new ArrayList<>();
      long next = committed + 1;
      long timestamp = clock.next(now.millis());
      for (Map.Entry<ObjectId, Transactions.Work> e : updates.entrySet()) {
        next = prepare(e.getKey(), e.getValue(), next, timestamp, prepared);
      }
      Partition.this.commit(prepared);
      updates.forEach(
          (object, work) -> {
            if (object.type() == CrdtType.BOUNDED_COUNTER) {
              Causal after = store.get(object);
              work.operations().forEach(o -> escrow.used(object, after, o));
            }
          });
      effects.committed(id, committed);
      return committed;
    }

    /**
     * Prepares a transaction's updates of one object. What an update removes or replaces is what
     * the transaction saw, in its snapshot: what was committed since is concurrent to it. A sum of
     * this replica must go on from the present one, and removes nothing.
     */
    private long prepare(
        ObjectId object,
        Transactions.Work work,
        long first,
        long timestamp,
        List<Prepared> prepared) {
      Causal stored = store.get(object);
      Causal present = stored == null ? Causal.bottom(object.type()) : stored;
      Causal seen = work.base();
      boolean unchanged = seen.context().equals(present.context());
      long next = first;
      for (Operation operation : work.operations()) {
        CausalContext before = present.context();
        List<Causal> deltas = new ArrayList<>();
        for (Operation part : unchanged ? List.of(operation) : operation.parts()) {
          Causal from = unchanged || part.isSum() ? present : seen;
          long predecessor = present.context().through(self());
          Causal made = from.prepare(part, self(), next, predecessor, timestamp, forgotten());
          next = made.context().last(self()) + 1;
          present = present.join(made);
          seen = unchanged ? present : seen.join(made);
          deltas.add(made);
        }
        Causal delta = Causal.join(deltas);
        prepared.add(new Prepared(object, before, next - 1, delta, present, 1, now.nanos()));
      }
      return next;
    }
  }

  /** A key holds one type, unless two datacenters gave it two at the same time. */
  private void checkUnused(ObjectId object) {
    for (Causal other : store.get(object.key())) {
      if (other.type() != object.type() && !other.isBottom()) {
        throw wrongType(object, other.type());
      }
    }
  }

  static OsierException wrongType(ObjectId object, CrdtType actual) {
    return new OsierException(
        ErrorCode.WRONG_TYPE,
        "key '" + object.key() + "' holds a " + actual + ", not a " + object.type());
  }

  private void checkSize(ObjectId object, Causal before, Causal after) {
    long max = config.policy().limits().objectBytesMax();
    if (after.sizeBytes() > max && after.sizeBytes() > before.sizeBytes()) {
      throw new OsierException(
          ErrorCode.VALUE_TOO_LARGE,
          "the update would make '"
              + object.key()
              + "' "
              + after.sizeBytes()
              + " bytes large; keyspace '"
              + config.policy().name()
              + "' allows "
              + max);
    }
  }

  // ---------------------------------------------------------------- what it is doing

  private PartitionReport report(int hotLimit) {
    PropagationStats stats = propagation.stats();
    return new PartitionReport(
        config.partition(),
        committed,
        store.size(),
        store.forgotten(),
        forgetting.waiting(),
        propagation.dirtyObjects(),
        propagation.waitingUpdates(),
        transactions == null ? 0 : transactions.openCount(),
        history == null ? 0 : history.versions(),
        escrow.waiters(),
        escrow.denied(),
        modes.stateObjects(),
        modes.switches(),
        modes.shipmentCost(),
        stats.appliedRemote(),
        stats.shippedBytes(),
        stats.opBytes(),
        stats.opsShipped(),
        stats.statesShipped(),
        stats.catchUpsShipped(),
        stats.gapsSeen(),
        stats.healedObjects(),
        stats.late(),
        stats.visibilityMicros(),
        propagation.coordinationNanos() / 1_000,
        propagation.through(),
        propagation.peers().stream()
            .map(
                p ->
                    new PartitionReport.Peer(
                        p.dc(),
                        p.incarnation(),
                        p.connected(),
                        p.stream(),
                        p.lagUpdates(),
                        p.inFlightBytes(),
                        p.behindUpdates()))
            .toList(),
        modes.hot(hotLimit));
  }
}
