package io.osier.datacenter.partition;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Reading;
import io.osier.datacenter.partition.machine.EffectsBuilder;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.StoredKey;
import io.osier.propagation.Propagation;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Serves clients' commands: a command whose session has seen updates of other datacenters is parked
 * until these updates are here. Not thread-safe.
 */
final class Commands {
  /** The most commands that may be parked. */
  static final int PARKED_MAX = 10_000;

  /**
   * A parked command: it waits for updates of other datacenters that its session has seen.
   *
   * @param lacking in words, the updates that were missing when it came
   * @param deadlineNanos when it fails if they are still missing
   */
  private record Parked(
      long ticket, Request request, String lacking, long sinceNanos, long deadlineNanos) {}

  private final String dc;
  private final ObjectStore store;
  private final Writes writes;
  private final Programs programs;

  /** Null in a {@code session} keyspace, which has no transactions. */
  private final @Nullable Transactions transactions;

  private final Propagation propagation;
  private final VisibleChanges changes;
  private final EffectsBuilder effects;
  private final SpreadWaiters spreading;
  private List<Parked> parked = new ArrayList<>();

  /** The version of what is here, as of the last look at all parked commands. */
  private long parkedVersion;

  Commands(
      String dc,
      ObjectStore store,
      Writes writes,
      Programs programs,
      @Nullable Transactions transactions,
      Propagation propagation,
      VisibleChanges changes,
      EffectsBuilder effects) {
    this.dc = dc;
    this.store = store;
    this.writes = writes;
    this.programs = programs;
    this.transactions = transactions;
    this.propagation = propagation;
    this.changes = changes;
    this.effects = effects;
    this.spreading = new SpreadWaiters(propagation, effects);
  }

  /** Returns those who wait until other datacenters have what was committed here. */
  SpreadWaiters spreading() {
    return spreading;
  }

  /** Serves a command, parks it, or refuses it. */
  void take(long ticket, Request request, Now now) {
    if (propagation.version() != parkedVersion) {
      // An earlier command of this session may wait for updates that have just come: it goes first.
      unpark(now);
    }
    VersionVector after = request.after();
    if (after.isEmpty()) {
      serve(ticket, request, now);
      return;
    }
    switch (propagation.coverage(after)) {
      case HERE -> serve(ticket, request, now);
      case LOST -> lost(ticket);
      case NOT_YET -> {
        long wait = Math.min(request.waitMillis(), Request.WAIT_MILLIS_MAX);
        long deadline = now.nanos() + wait * 1_000_000L;
        if (deadline <= now.nanos()) {
          behind(ticket, after);
        } else if (parked.size() >= PARKED_MAX) {
          fail(
              ticket,
              ErrorCode.OVERLOADED,
              PARKED_MAX
                  + " requests wait for updates of other datacenters already, the most that may;"
                  + " try again later");
        } else {
          parked.add(new Parked(ticket, request, lacking(after), now.nanos(), deadline));
          parkedVersion = propagation.version();
        }
      }
    }
  }

  /** Returns how many commands are parked. */
  int parked() {
    return parked.size();
  }

  /** Refuses a command: the partition has just started and serves nobody yet. */
  void refuse(long ticket) {
    fail(
        ticket,
        ErrorCode.UNAVAILABLE,
        dc + " has just started and is catching up with the other datacenters");
  }

  /** Serves the parked commands whose updates are here, and fails those that waited too long. */
  void unpark(Now now) {
    if (parked.isEmpty()) {
      return;
    }
    parkedVersion = propagation.version();
    List<Parked> all = parked;
    parked = new ArrayList<>();
    for (Parked one : all) {
      VersionVector after = one.request.after();
      switch (propagation.coverage(after)) {
        case HERE -> {
          waited(one, now);
          serve(one.ticket, one.request, now);
        }
        case LOST -> {
          waited(one, now);
          lost(one.ticket);
        }
        case NOT_YET -> {
          if (one.deadlineNanos <= now.nanos()) {
            waited(one, now);
            behind(one.ticket, after);
          } else {
            parked.add(one);
          }
        }
      }
    }
  }

  private void waited(Parked one, Now now) {
    effects.waited(one.ticket, Waited.For.PAST, one.lacking, now.nanos() - one.sinceNanos);
  }

  /** Names the datacenters of which a session has seen updates that are not here. */
  private String lacking(VersionVector after) {
    VersionVector beyond = after.beyond(propagation.here());
    List<String> dcs = new ArrayList<>();
    for (int i = 0; i < beyond.size(); i++) {
      dcs.add(beyond.replica(i).dc());
    }
    return "updates of " + String.join(", ", dcs);
  }

  /** Returns when {@link #unpark} has something to do; Long.MAX_VALUE if never. */
  long nextNanos() {
    if (parked.isEmpty()) {
      return Long.MAX_VALUE;
    }
    return propagation.version() != parkedVersion
        ? Long.MIN_VALUE
        : parked.stream().mapToLong(Parked::deadlineNanos).min().orElseThrow();
  }

  private void serve(long ticket, Request request, Now now) {
    changes.serving(ticket);
    try {
      switch (request) {
        case Request.Read r -> read(ticket, r, now);
        case Request.Write w -> writes.write(ticket, w, now);
        case Request.ReadAll r -> readAll(ticket, r, now);
        case Request.WriteAll w -> effects.answer(ticket, writes.write(w, now));
        case Request.Evaluate e -> effects.answer(ticket, programs.evaluate(e, now));
        case Request.Transact t -> effects.answer(transactions(t.keyspace()).step(ticket, t, now));
        case Request.Repeat r ->
            effects.answer(transactions(r.step().keyspace()).repeat(ticket, r, now));
        case ScanRequest s -> effects.answer(ticket, dropped(s));
        case ProgressRequest.Spread s -> spreading.take(ticket, s, now);
        case ProgressRequest.Reach r ->
            effects.answer(ticket, new Reply.Through(propagation.here()));
        case ProgressRequest.Through t ->
            effects.answer(ticket, new Reply.Through(propagation.here()));
        default ->
            fail(
                ticket,
                ErrorCode.INVALID_ARGUMENT,
                "a partition does not serve " + request.getClass().getSimpleName());
      }
    } catch (OsierException e) {
      fail(ticket, e.code(), e.reason());
    } finally {
      changes.serving(0);
    }
  }

  private void read(long ticket, Request.Read read, Now now) {
    StoredKey stored = store.stored(read.key());
    if (Reads.isLong(stored, read.query())) {
      effects.answerLater(ticket, Reads.later(stored.states(), read, now::millis));
    } else {
      effects.answer(ticket, Reads.of(stored, read, now::millis));
    }
  }

  private void readAll(long ticket, Request.ReadAll read, Now now) {
    Map<Key, StoredKey> stored = new HashMap<>();
    read.reads().forEach(r -> stored.computeIfAbsent(r.key(), store::stored));
    if (Reads.isLong(stored, read.reads())) {
      effects.answerLater(ticket, Reads.later(stored, read.reads(), now::millis));
    } else {
      effects.answer(ticket, Reads.all(read.reads(), stored::get, now::millis));
    }
  }

  /**
   * Returns the keyspace's transactions.
   *
   * @throws OsierException INVALID_ARGUMENT if the keyspace has none
   */
  private Transactions transactions(String keyspace) {
    if (transactions == null) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "'"
              + keyspace
              + "' is a session keyspace; transactions need one with consistency = causal");
    }
    return transactions;
  }

  /**
   * Returns the rows of a scan that the store no longer has: dropped objects that an open snapshot
   * may show.
   */
  private Reply dropped(ScanRequest scan) {
    List<ObjectId> some =
        transactions == null
            ? List.of()
            : transactions.dropped(scan.from(), scan.to(), scan.limit() + 1);
    Optional<Key> next = Optional.empty();
    if (some.size() > scan.limit()) {
      // A key's objects stay together, as everywhere; one key alone has fewer than are asked for.
      next = Optional.of(some.getLast().key());
    }
    Optional<Key> end = next;
    List<Reply.Row> rows =
        some.stream()
            .filter(o -> end.isEmpty() || !o.key().equals(end.get()))
            .map(o -> new Reply.Row(o.key(), o.type(), new Reading.Flag(false)))
            .toList();
    return new Reply.Page(rows, next, List.of());
  }

  private void behind(long ticket, VersionVector after) {
    fail(
        ticket,
        ErrorCode.SESSION_BEHIND,
        dc
            + " has not yet received what this session has seen elsewhere: it has "
            + propagation.here()
            + ", the session needs "
            + after
            + "; wait until it comes, forget what was seen, or let the session go on without it");
  }

  private void lost(long ticket) {
    effects.answer(ticket, lost());
  }

  /** What is answered to who asks for what will never be here. */
  static Reply.Failure lost() {
    return new Reply.Failure(
        ErrorCode.SESSION_LOST,
        "this session has seen updates that are lost or may be lost, since a datacenter lost its"
            + " memory before it had shipped everything; forget what was seen, or let the session"
            + " go on without it");
  }

  private void fail(long ticket, ErrorCode code, String message) {
    effects.answer(ticket, new Reply.Failure(code, message));
  }
}
