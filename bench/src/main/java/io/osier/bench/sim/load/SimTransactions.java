package io.osier.bench.sim.load;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.app.SimApp;
import io.osier.bench.sim.app.SimSending;
import io.osier.bench.sim.check.TransactionCheck;
import io.osier.bench.sim.check.TransactionCheck.Outcome;
import io.osier.bench.sim.check.TransactionView;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.OsierException;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Session;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A session of production's client in a causal keyspace: transactions in one request and in
 * several, aborted ones, commits that are refused and asked for again by the caller. Its client
 * brings commits whose answers are lost to where they live. What it is told is held against what
 * the partition did: what has failed for certain was not committed, and nothing was twice.
 */
final class SimTransactions {
  private static final Duration LIMIT = Duration.ofSeconds(20);
  private static final int COMMITS_MAX = 3;

  /** One of so many transactions that read twice scans what it reads. */
  private static final int SCANS_ONE_IN = 5;

  private final Simulation simulation;
  private final Scheduler scheduler;
  private final SimApp app;
  private final String name;
  private final Unit unit;
  private final Random random;
  private final TransactionCheck check;
  private final Session session;
  private final Keyspace keyspace;

  /** What the session has seen and done. */
  private final BitSet known = new BitSet();

  /** How many calls have no outcome yet. */
  private int waiting;

  SimTransactions(Simulation simulation, SimApp app, String name, Unit unit, Random random) {
    this.simulation = simulation;
    this.scheduler = simulation.scheduler();
    this.app = app;
    this.name = name;
    this.unit = unit;
    this.random = random;
    this.check = simulation.checks(unit).transactions();
    this.session = app.client().session();
    this.keyspace = session.keyspace(unit.policy().name());
  }

  void start() {
    next();
  }

  private void next() {
    if (simulation.isLoading()) {
      scheduler.in((20 + random.nextInt(4_000 * simulation.profile().pace())) * MILLI, this::begin);
    }
  }

  /** How long a transaction pauses: now and then for longer than it may be open. */
  static long pauseNanos(Random random) {
    return random.nextInt(40) == 0 ? 25_000 * MILLI : random.nextInt(1_500) * MILLI;
  }

  private void begin() {
    if (!simulation.isLoading()) {
      return;
    }
    if (random.nextInt(12) == 0) {
      move();
    }
    switch (random.nextInt(5)) {
      case 0 -> readOnce();
      case 1, 2 -> writeOnce();
      default -> interactive();
    }
  }

  private void move() {
    String to = random.nextInt(3) == 0 ? null : simulation.anyDc(random);
    if (to == null || !app.reaches(to) || !unit.policy().heldBy(to)) {
      session.unpin();
    } else {
      session.pin(to);
    }
  }

  /** Makes a call, and handles its outcome; an exception of a check ends the run. */
  private <T> void call(
      DrawnTransaction tx,
      Supplier<CompletableFuture<T>> calls,
      Consumer<T> then,
      Consumer<Throwable> failed) {
    waiting++;
    app.calling(tx, calls)
        .whenComplete(
            (result, error) -> {
              waiting--;
              try {
                if (error == null) {
                  then.accept(result);
                } else {
                  boolean wrapped = error instanceof CompletionException;
                  failed.accept(wrapped ? requireNonNull(error.getCause()) : error);
                }
              } catch (RuntimeException e) {
                scheduler.fail(e);
              }
            });
  }

  // ---------------------------------------------------------------- what it does

  private void readOnce() {
    DrawnTransaction tx = new DrawnTransaction(simulation, name, unit, known);
    call(
        tx,
        () -> keyspace.readTogetherAsync(TransactionReads.all()),
        found -> {
          look(tx, found, 0);
          next();
        },
        error -> failed(tx, error));
  }

  private void writeOnce() {
    DrawnTransaction tx = new DrawnTransaction(simulation, name, unit, known);
    announce(tx);
    List<Keyspace.Change> changes =
        TransactionView.updates(tx.number, tx.places, random).stream()
            .map(u -> new Keyspace.Change(u.key(), u.type(), u.operation()))
            .toList();
    call(
        tx,
        () -> keyspace.updateTogetherAsync(changes),
        nothing -> committed(tx),
        error -> notCommitted(tx, error));
  }

  /** Draws where the transaction writes, and announces it. */
  private void announce(DrawnTransaction tx) {
    tx.places = TransactionView.places(random);
    tx.number = check.begins(tx.places, known);
  }

  private void interactive() {
    DrawnTransaction tx = new DrawnTransaction(simulation, name, unit, known);
    call(
        tx,
        () -> keyspace.beginAsync(TransactionOptions.DEFAULT.limit(LIMIT)),
        of -> read(tx, of),
        error -> failed(tx, error));
  }

  private void read(DrawnTransaction tx, Transaction of) {
    call(
        tx,
        () -> of.readTogetherAsync(TransactionReads.all()),
        found -> {
          look(tx, found, 0);
          announce(tx);
          check.saw(tx.number, requireNonNull(tx.view, "it was just read").all());
          scheduler.in(pauseNanos(random), () -> write(tx, of));
        },
        error -> failed(tx, error));
  }

  private void write(DrawnTransaction tx, Transaction of) {
    for (Request.Update u : TransactionView.updates(tx.number, tx.places, random)) {
      var unused = of.update(u.key(), u.type(), u.operation());
    }
    if (random.nextBoolean()) {
      end(tx, of); // the commit brings the updates
      return;
    }
    // By its number and not drawn, so that nothing else is drawn otherwise.
    boolean scans = tx.number % SCANS_ONE_IN == 0;
    call(
        tx,
        () -> scans ? TransactionReads.scanned(of) : of.readTogetherAsync(TransactionReads.all()),
        found -> {
          look(tx, found, tx.number);
          scheduler.in(pauseNanos(random), () -> end(tx, of));
        },
        error -> {
          tx.outcome = Outcome.NEVER;
          check.ended(tx.number, Outcome.NEVER, tx.where());
          of.close();
          failed(tx, error);
        });
  }

  private void end(DrawnTransaction tx, Transaction of) {
    if (random.nextInt(4) == 0) {
      tx.outcome = Outcome.NEVER;
      check.ended(tx.number, Outcome.NEVER, tx.where());
      call(tx, of::abortAsync, nothing -> next(), error -> next());
      return;
    }
    tx.commits++;
    call(
        tx,
        of::commitAsync,
        clock -> committed(tx),
        error -> {
          boolean isOpen = !isUnknown(error) && tx.dot == null;
          if (isOpen && tx.commits < COMMITS_MAX && simulation.isLoading()) {
            // Refused: it may be asked for again, of the same transaction.
            scheduler.in(pauseNanos(random), () -> end(tx, of));
          } else {
            notCommitted(tx, error);
          }
        });
  }

  // ---------------------------------------------------------------- what it is told

  private boolean isUnknown(Throwable error) {
    return error instanceof OutcomeUnknownException
        && !simulation.options().sabotage().takesForFailed();
  }

  private void committed(DrawnTransaction tx) {
    if (tx.commit() == null) {
      throw tx.wrong("is committed by none");
    }
    tx.outcome = Outcome.COMMITTED;
    check.ended(tx.number, Outcome.COMMITTED, tx.where());
    known.set(tx.number);
    next();
  }

  private void notCommitted(DrawnTransaction tx, Throwable error) {
    if (!isUnknown(error)) {
      Dot commit = tx.commit();
      if (commit != null) {
        throw tx.wrong("is committed as %s, and its caller is told %s", commit, error);
      }
      tx.outcome = Outcome.NEVER;
      check.ended(tx.number, Outcome.NEVER, tx.at);
    }
    failed(tx, error);
  }

  /**
   * Checks what a step shows.
   *
   * @param own the transaction's number if it has written
   */
  private void look(DrawnTransaction tx, List<Keyspace.Found> found, int own) {
    TransactionView view =
        TransactionView.of(found.stream().map(f -> f.reading().orElseThrow()).toList());
    BitSet wanted = tx.view == null ? tx.before : TransactionCheck.NONE;
    check.snapshot(name, tx.where(), view, own, wanted);
    if (tx.view == null) {
      tx.view = view;
    } else {
      check.repeated(name, tx.view, view, own);
    }
    BitSet seen = view.all();
    seen.clear(own);
    known.or(seen);
  }

  private void failed(DrawnTransaction tx, Throwable error) {
    if (!(error instanceof OsierException failure)) {
      throw tx.wrong("has failed with %s", error);
    }
    if (simulation.holders().isUnpinned(failure, unit)) {
      session.unpin();
      next();
      return;
    }
    switch (failure.code()) {
      case SESSION_LOST -> forget(tx);
      case SESSION_BEHIND,
          UNAVAILABLE,
          STORE_FULL,
          TRANSACTION_ENDED,
          TRANSACTION_FORGOTTEN,
          OVERLOADED,
          SHUTTING_DOWN,
          TIMEOUT ->
          move();
      default -> throw tx.wrong("was refused: %s", failure);
    }
    next();
  }

  /** Only memory that was really lost may be reported as lost. */
  private void forget(DrawnTransaction tx) {
    SimSending begun = requireNonNull(tx.begun, "a datacenter has refused it");
    if (begun.request() instanceof Request.Transact t
        && !simulation.losses().hasLost(unit, t.begin().orElseThrow().clock())
        && !simulation.holders().mayTellOthers(simulation.dc(begun.to().dc()), unit)) {
      throw tx.wrong("is said to follow what was lost: %s", t.begin());
    }
    session.forget();
    known.clear();
  }

  // ---------------------------------------------------------------- the end

  /** All calls have ended: the client was closed. */
  void ended() {
    if (waiting > 0) {
      throw new Violation(
          unit + "/txn", "a call by %s has no outcome, and its client is closed", name);
    }
  }
}
