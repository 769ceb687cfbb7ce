package io.osier.bench.history;

import io.osier.bench.history.History.Op;
import io.osier.bench.history.Recorder.Past;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.proxy.OutcomeUnknownException;
import io.osier.proxy.Session;
import io.osier.proxy.SessionOptions;
import io.osier.proxy.Transaction;
import io.osier.proxy.TransactionOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A session that does at random all that sessions can do, and records it: single reads and writes,
 * transactions of one request and of several, aborted ones, programs, calls that do not wait for
 * each other, snapshots of the past, races. It moves between datacenters, hands its token to other
 * sessions and joins theirs. A transaction of unknown outcome is the session's last; another
 * session in another client continues.
 */
final class RandomSession implements Runnable {
  /** The number of hot registers, which get every third access, and all accesses in a burst. */
  private static final int HOT_KEYS = 3;

  private static final int BURST = 20;
  private static final int MOMENTS_MAX = 10;

  /** A clock at which the session can read, and its last transaction before that. */
  private record Moment(VersionVector clock, int txn) {}

  private final List<OsierClient> clients;
  private final List<String> dcs;
  private final Recorder recorder;
  private final int keys;
  private final long pauseNanos;
  private final BooleanSupplier running;
  private final Random random;
  private final Overlapping overlapping;
  private final Races races;
  private final List<Moment> moments = new ArrayList<>();

  /** The transactions that the next one comes after, besides those of its session. */
  private final List<Integer> after = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // run sets it first
  private Session session;

  @SuppressWarnings("NullAway.Init") // run sets it first
  private Keyspace keyspace;

  private int number;
  private int last;
  private int burst;

  /**
   * Creates a session, which {@link #run} begins.
   *
   * @param clients the clients it may use, each as if in another process
   * @param dcs the datacenters to which it may be pinned
   * @param races where it meets other sessions
   * @param keys how many registers there are
   * @param pauseNanos how long it waits between transactions, on average
   */
  RandomSession(
      List<OsierClient> clients,
      List<String> dcs,
      Recorder recorder,
      Races races,
      int keys,
      long pauseNanos,
      BooleanSupplier running,
      Random random) {
    this.clients = clients;
    this.dcs = dcs;
    this.recorder = recorder;
    this.races = races;
    this.keys = keys;
    this.pauseNanos = pauseNanos;
    this.running = running;
    this.random = random;
    this.overlapping = new Overlapping(recorder, random);
  }

  @Override
  public void run() {
    begin(SessionOptions.DEFAULT);
    while (running.getAsBoolean()) {
      List<Op> ops = new ArrayList<>();
      try {
        step(ops);
      } catch (OutcomeUnknownException e) {
        recorder.unknown(number, ops, after);
        goOn();
      } catch (OsierException e) {
        recorder.failed(e);
        refused(e.code());
      } catch (RuntimeException e) {
        recorder.broken("a session's own fault: " + e);
        return;
      }
      if (burst > 0) {
        burst--;
      } else {
        LockSupport.parkNanos((long) (pauseNanos * 2 * random.nextDouble()));
        burst = random.nextInt(100) == 0 ? BURST : 0;
      }
    }
    recorder.ended(past());
  }

  // ---------------------------------------------------------------- the session itself

  private void begin(SessionOptions options) {
    session = clients.get(random.nextInt(clients.size())).session(options);
    keyspace = session.keyspace(Registers.KEYSPACE);
    number = recorder.newSession();
    last = 0;
    moments.clear();
  }

  /** Continues as another session in another client, after this one's known transactions. */
  private void goOn() {
    Past past = past();
    recorder.ended(past);
    after.clear();
    after.addAll(past.txns());
    begin(SessionOptions.DEFAULT.after(past.token()));
  }

  /** Returns the session's token, and the last transactions that it surely covers. */
  private Past past() {
    List<Integer> txns = new ArrayList<>(after);
    if (last != 0) {
      txns.add(last);
    }
    return new Past(session.token().encode(), txns);
  }

  private void refused(ErrorCode code) {
    session.unpin();
    if (code == ErrorCode.SESSION_LOST) {
      after.clear();
      begin(SessionOptions.DEFAULT);
    }
    LockSupport.parkNanos(20_000_000);
  }

  private void done(List<Op> ops) {
    last = recorder.add(number, ops, after, session.datacenter().orElse(""));
    after.clear();
  }

  // ---------------------------------------------------------------- its actions

  private void step(List<Op> ops) {
    switch (random.nextInt(18)) {
      case 0, 1 -> write(ops);
      case 2, 3 -> read(ops);
      case 4, 5 -> writeTogether(ops);
      case 6 -> readTogether(ops, someKeys());
      case 7 -> aborted(ops);
      case 8, 9 -> overlap();
      case 10 -> readThePast();
      case 11 -> other();
      case 12 -> race(ops);
      case 13, 14 -> program(ops, someKeys());
      default -> interactive(ops);
    }
  }

  private int key() {
    boolean hot = burst > 0 || random.nextInt(3) == 0;
    return random.nextInt(hot ? Math.min(HOT_KEYS, keys) : keys);
  }

  private List<Integer> someKeys() {
    Set<Integer> some = new HashSet<>();
    for (int i = 0; i <= random.nextInt(4); i++) {
      some.add(key());
    }
    return List.copyOf(some);
  }

  private void write(List<Op> ops) {
    Op op = new Op(true, key(), recorder.newValue());
    ops.add(op);
    keyspace.update(Registers.key(op.key()), CrdtType.LWW_REGISTER, Registers.assign(op.value()));
    done(ops);
  }

  private void read(List<Op> ops) {
    int key = key();
    ops.add(
        Registers.read(key, keyspace.read(Registers.key(key), Registers.TYPE, Registers.WHOLE)));
    done(ops);
  }

  private void writeTogether(List<Op> ops) {
    someKeys().forEach(k -> ops.add(new Op(true, k, recorder.newValue())));
    if (random.nextInt(4) == 0) {
      ops.add(new Op(true, ops.getFirst().key(), recorder.newValue())); // the later one counts
    }
    keyspace.updateTogether(ops.stream().map(Registers::change).toList());
    done(ops);
  }

  private void readTogether(List<Op> ops, List<Integer> some) {
    ops.addAll(Registers.reads(some, keyspace.readTogether(Registers.gets(some))));
    done(ops);
  }

  /** Writes the registers that another session writes at the same instant, and reads who won. */
  private void race(List<Op> ops) {
    List<Integer> some = races.start(someKeys());
    if (some.isEmpty()) {
      return;
    }
    if (random.nextBoolean()) {
      program(ops, some);
    } else {
      some.forEach(k -> ops.add(new Op(true, k, recorder.newValue())));
      keyspace.updateTogether(ops.stream().map(Registers::change).toList());
      done(ops);
    }
    LockSupport.parkNanos((50 + random.nextInt(300)) * 1_000_000L); // the other's must come first
    readTogether(new ArrayList<>(), some);
  }

  private void program(List<Op> ops, List<Integer> some) {
    RandomProgram program = RandomProgram.draw(some, recorder, random);
    ops.addAll(program.writes());
    List<Op> done = program.run(keyspace, recorder);
    last = recorder.addProgram(number, done, after, session.datacenter().orElse(""));
    after.clear();
  }

  private void interactive(List<Op> ops) {
    try (Transaction tx = keyspace.begin()) {
      readAndWrite(tx, ops, false);
      tx.commit();
    }
    done(ops);
  }

  /** Aborts a transaction. Its reads count as any others; nobody may see its writes. */
  private void aborted(List<Op> ops) {
    List<Op> tried = new ArrayList<>();
    try (Transaction tx = keyspace.begin()) {
      readAndWrite(tx, tried, true);
      tx.abort();
    }
    Set<Integer> own = new HashSet<>();
    for (Op op : tried) {
      if (op.write()) {
        own.add(op.key());
      } else if (!own.contains(op.key())) {
        ops.add(op);
      } else if (op.value() != History.ABORTED) {
        recorder.broken("a transaction did not read its own write back, but " + op);
      }
    }
    if (!ops.isEmpty()) {
      done(ops);
    }
  }

  private void readAndWrite(Transaction tx, List<Op> ops, boolean toBeAborted) {
    for (int i = 0; i <= random.nextInt(6); i++) {
      int key = key();
      if (random.nextBoolean()) {
        Op op = new Op(true, key, toBeAborted ? History.ABORTED : recorder.newValue());
        ops.add(op);
        var unused =
            tx.update(Registers.key(key), CrdtType.LWW_REGISTER, Registers.assign(op.value()));
      } else {
        ops.add(Registers.read(key, tx.read(Registers.key(key), Registers.TYPE, Registers.WHOLE)));
      }
    }
  }

  /** Makes calls that do not wait for each other: they come after the earlier ones only. */
  private void overlap() {
    List<Integer> before = past().txns();
    List<List<Integer>> some = new ArrayList<>();
    for (int i = 0; i < Overlapping.CALLS; i++) {
      some.add(someKeys());
    }
    after.addAll(overlapping.run(session, some, before));
  }

  /** Reads a snapshot of the past, which says nothing about the session's later reads. */
  private void readThePast() {
    if (last != 0 && (moments.isEmpty() || random.nextBoolean())) {
      moments.add(new Moment(keyspace.clock(), last));
      if (moments.size() > MOMENTS_MAX) {
        moments.removeFirst();
      }
    }
    if (!moments.isEmpty()) {
      Moment moment = moments.get(random.nextInt(moments.size()));
      List<Integer> some = someKeys();
      List<Op> ops;
      try (Transaction tx = keyspace.begin(TransactionOptions.DEFAULT.at(moment.clock))) {
        ops = Registers.reads(some, tx.readTogether(Registers.gets(some)));
      }
      recorder.add(recorder.newSession(), ops, List.of(moment.txn), "the past");
    }
  }

  /** Pins or unpins the session, hands its token on, or joins another session's. */
  private void other() {
    switch (random.nextInt(4)) {
      case 0 -> session.pin(dcs.get(random.nextInt(dcs.size())));
      case 1 -> session.unpin();
      case 2 -> recorder.hand(past());
      default -> {
        Past taken = recorder.taken(random);
        if (taken != null) {
          session.join(taken.decoded());
          after.addAll(taken.txns());
        }
      }
    }
  }
}
