package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimCommit;
import io.osier.bench.sim.check.TransactionCheck;
import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.check.TransactionView;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A session in a causal keyspace: transactions in one request and in several, aborted ones, the
 * past, commits that are sent again after a crash or for nothing, fail-overs in between.
 */
final class SimTransactor {
  private static final int WAIT_MILLIS = 3_000;
  private static final int LIMIT_MILLIS = 20_000;
  private static final long PATIENCE_NANOS = 8_000 * MILLI;
  private static final int PAST_KEPT = 20;

  /**
   * A clock to ask for as the past: of a snapshot that was seen, or of a part of a transaction.
   *
   * @param shows what the past must show
   * @param what the same in words
   */
  private record Past(
      ReplicaId at, VersionVector clock, Predicate<TransactionView> shows, String what) {}

  /** One transaction. */
  private static final class Tx {
    final TransactionId id;
    final SimDc dc;
    ReplicaId at; // a holder, once one has answered
    int step;
    int number;
    Set<Integer> places = Set.of();

    /** What it has read; null before the first read. */
    @Nullable TransactionView view;

    Tx(TransactionId id, SimDc dc) {
      this.id = id;
      this.dc = dc;
      this.at = dc.self();
    }
  }

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final String name;
  private final Unit unit;
  private final Random random;
  private final TransactionCheck check;
  private final List<Past> pasts = new ArrayList<>();
  private String home;
  private VersionVector seen = VersionVector.EMPTY;
  private final BitSet known = new BitSet();

  SimTransactor(Simulation simulation, String name, Unit unit, Random random, String home) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.name = name;
    this.unit = unit;
    this.random = random;
    this.home = home;
    this.check = simulation.checks(unit).transactions();
  }

  void start() {
    next();
  }

  private void next() {
    if (simulation.isLoading()) {
      scheduler.in((20 + random.nextInt(4_000 * simulation.profile().pace())) * MILLI, this::begin);
    }
  }

  private void move() {
    home = simulation.anyDc(random);
    next();
  }

  // ---------------------------------------------------------------- requests

  /** Asks, and hears the reply, or null if none comes. */
  private void ask(Tx tx, Request request, Consumer<Reply> then) {
    SimDc dc = tx.dc;
    if (!dc.isUp()) {
      scheduler.in(200 * MILLI, () -> then.accept(null));
      return;
    }
    long ticket = simulation.nextTicket();
    byte[] bytes = ProtocolCodec.encode(ticket, request);
    simulation.trace().hash(bytes);
    simulation.trace().about(unit, "txn", "%s asks %s: %s", name, dc.self(), request);
    BooleanSupplier goesOn = dc.goesOn();
    boolean[] done = {false};
    Consumer<Reply> once =
        reply -> {
          if (!done[0]) {
            done[0] = true;
            then.accept(reply);
          }
        };
    scheduler.in(
        2 * MILLI,
        () -> {
          if (!goesOn.getAsBoolean()) {
            once.accept(null);
            return;
          }
          dc.command(
              unit,
              this,
              ProtocolCodec.decodeRequest(bytes).message(),
              (at, reply) -> {
                tx.at = at == null ? tx.at : at.self();
                return () -> {
                  byte[] answer = ProtocolCodec.encode(ticket, reply);
                  simulation.trace().hash(answer);
                  simulation.counted(reply);
                  simulation.trace().about(unit, "txn", "%s -> %s: %s", tx.at, name, reply);
                  Reply arrived = ProtocolCodec.decodeReply(answer).message();
                  scheduler.in(2 * MILLI, () -> once.accept(arrived));
                };
              });
        });
    scheduler.in(PATIENCE_NANOS, () -> once.accept(null));
  }

  private Request.Transact step(
      Tx tx, Optional<Request.Begin> begin, boolean writes, Request.End end) {
    tx.step++;
    List<Request.Update> updates =
        writes ? TransactionView.updates(tx.number, tx.places, random) : List.of();
    List<Request.Fetch> reads = new ArrayList<>();
    for (ObjectId object : TransactionView.objects()) {
      reads.add(new Request.Fetch(object.key(), Optional.of(object.type()), new Query.Whole()));
    }
    return new Request.Transact(unit.policy().name(), tx.id, tx.step, begin, updates, reads, end);
  }

  private Request.Begin newest() {
    return new Request.Begin(seen, false, WAIT_MILLIS, LIMIT_MILLIS);
  }

  /** Draws where the transaction writes, and announces it. */
  private void announce(Tx tx) {
    tx.places = TransactionView.places(random);
    tx.number = check.begins(tx.places, known);
  }

  // ---------------------------------------------------------------- what it does

  private void begin() {
    if (!simulation.isLoading()) {
      return;
    }
    if (random.nextInt(12) == 0) {
      home = simulation.anyDc(random);
    }
    SimDc dc = simulation.dc(home);
    Tx tx = new Tx(new TransactionId(random.nextLong(), random.nextLong()), dc);
    switch (random.nextInt(6)) {
      case 0 -> readOnce(tx);
      case 1, 2 -> writeOnce(tx);
      case 3 -> past(tx);
      default -> interactive(tx);
    }
  }

  private void readOnce(Tx tx) {
    ask(
        tx,
        step(tx, Optional.of(newest()), false, Request.End.COMMIT),
        reply -> {
          if (reply instanceof Reply.Transacted t) {
            look(tx, t, 0);
            seen = seen.join(t.clock());
            next();
          } else {
            failed(tx, reply);
          }
        });
  }

  private void writeOnce(Tx tx) {
    announce(tx);
    Request.Transact request = step(tx, Optional.of(newest()), true, Request.End.COMMIT);
    commit(tx, request);
  }

  private void interactive(Tx tx) {
    ask(
        tx,
        step(tx, Optional.of(newest()), false, Request.End.OPEN),
        reply -> {
          if (!(reply instanceof Reply.Transacted t)) {
            failed(tx, reply);
            return;
          }
          look(tx, t, 0);
          seen = seen.join(t.clock());
          announce(tx);
          check.saw(tx.number, requireNonNull(tx.view, "it was just read").all());
          scheduler.in(SimTransactions.pauseNanos(random), () -> write(tx));
        });
  }

  private void write(Tx tx) {
    ask(
        tx,
        step(tx, Optional.empty(), true, Request.End.OPEN),
        reply -> {
          if (!(reply instanceof Reply.Transacted t)) {
            check.ended(tx.number, Outcome.NEVER, tx.at);
            failed(tx, reply);
            return;
          }
          look(tx, t, tx.number);
          scheduler.in(SimTransactions.pauseNanos(random), () -> end(tx));
        });
  }

  private void end(Tx tx) {
    if (random.nextInt(4) == 0) {
      check.ended(tx.number, Outcome.NEVER, tx.at);
      ask(tx, step(tx, Optional.empty(), false, Request.End.ABORT), reply -> next());
      return;
    }
    commit(tx, step(tx, Optional.empty(), false, Request.End.COMMIT));
  }

  private void commit(Tx tx, Request.Transact request) {
    SimCommit.Listener listener =
        (reply, unsure) -> {
          if (reply instanceof Reply.Transacted t) {
            committed(tx, t, unsure);
          } else if (reply instanceof Reply.Failure) {
            check.ended(tx.number, Outcome.NEVER, tx.at);
            failed(tx, reply);
          } else {
            move(); // the outcome is unknown
          }
        };
    SimCommit.Way way = (dc, asked, then) -> ask(tx, asked, then);
    long known = seen.get(tx.at);
    new SimCommit(simulation, tx.dc, request, known, random, way, listener).start();
  }

  private void committed(Tx tx, Reply.Transacted t, boolean unsure) {
    check.ended(tx.number, Outcome.COMMITTED, tx.at);
    if (!unsure && !t.answers().isEmpty()) {
      look(tx, t, tx.number);
    }
    if (!unsure && t.dot().isPresent() && pasts.size() < PAST_KEPT) {
      // Whoever has seen one of its objects has seen a number before its last.
      long within = t.dot().get().number() - 1;
      int number = tx.number;
      pasts.add(
          new Past(
              tx.at,
              t.clock().with(tx.at, within),
              v -> v.all().get(number),
              "with all of transaction " + number));
    }
    known.set(tx.number);
    seen = seen.join(t.clock());
    next();
  }

  private void past(Tx tx) {
    pasts.removeIf(p -> !p.at.equals(tx.dc.replica(unit)));
    if (pasts.isEmpty() || !tx.dc.serves(unit)) {
      readOnce(tx);
      return;
    }
    Past past = pasts.get(random.nextInt(pasts.size()));
    Request.Begin begin = new Request.Begin(past.clock, true, 0, LIMIT_MILLIS);
    ask(
        tx,
        step(tx, Optional.of(begin), false, Request.End.COMMIT),
        reply -> {
          if (reply instanceof Reply.Transacted t) {
            TransactionView view = view(t);
            if (!past.shows.test(view)) {
              throw new Violation(
                  unit + "/txn",
                  "%s read the past of %s at %s: %s, which is not %s",
                  name,
                  past.clock,
                  tx.at,
                  view,
                  past.what);
            }
            next();
          } else if (reply instanceof Reply.Failure f && f.code() == ErrorCode.SNAPSHOT_TOO_OLD) {
            pasts.remove(past);
            next();
          } else {
            pasts.clear();
            failed(tx, reply);
          }
        });
  }

  // ---------------------------------------------------------------- what it sees

  private static TransactionView view(Reply.Transacted t) {
    return TransactionView.of(t.answers().stream().map(a -> a.reading().orElseThrow()).toList());
  }

  /**
   * Checks what a step shows.
   *
   * @param own the transaction's number if it has written
   */
  private void look(Tx tx, Reply.Transacted t, int own) {
    TransactionView view = view(t);
    check.snapshot(name, tx.at, view, own, tx.view == null ? known : TransactionCheck.NONE);
    if (tx.view != null) {
      check.repeated(name, tx.view, view, own);
    } else if (own != 0) {
      BitSet before = view.all();
      before.clear(own);
      check.saw(own, before);
    }
    if (tx.view == null) {
      tx.view = view;
      if (own == 0 && pasts.size() < PAST_KEPT) {
        pasts.add(new Past(tx.at, t.clock(), view::equals, "what was seen, " + view));
      }
    }
    BitSet all = view.all();
    all.clear(own);
    known.or(all);
  }

  private void failed(Tx tx, Reply reply) {
    if (!(reply instanceof Reply.Failure failure)) {
      move(); // no answer
      return;
    }
    // Only memory that was really lost may be reported as lost.
    boolean isLost =
        failure.code() == ErrorCode.SESSION_LOST
            && (simulation.losses().hasLost(unit, seen)
                || simulation.holders().mayTellOthers(tx.dc, unit));
    if (isLost) {
      seen = VersionVector.EMPTY;
      known.clear();
      pasts.clear();
    }
    switch (failure.code()) {
      case SESSION_BEHIND, UNAVAILABLE, STORE_FULL, TRANSACTION_ENDED, OVERLOADED, SHUTTING_DOWN ->
          move();
      default -> {
        if (!isLost && (failure.code() != ErrorCode.SNAPSHOT_TOO_OLD || !stoodStill(tx.at))) {
          throw new Violation(unit + "/txn", "%s was refused at %s: %s", name, tx.at, failure);
        }
        move();
      }
    }
  }

  /** Whether it may have stood still for longer than what is overwritten is kept. */
  private boolean stoodStill(ReplicaId at) {
    return simulation.dc(at.dc()).steadySinceNanos() > scheduler.nanos() - LIMIT_MILLIS * MILLI;
  }
}
