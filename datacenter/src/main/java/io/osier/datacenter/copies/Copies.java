package io.osier.datacenter.copies;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.forward.AnswerWitness;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.partition.Reads;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Keeps copies of objects that other datacenters hold and that are read here often. A copy answers
 * a read only if it contains all updates of its key that were shown here and all that the session
 * has seen elsewhere; so no read shows less than an earlier one. Thread-safe. A read that a copy
 * answers takes no lock, unless its session has seen more elsewhere than the sessions before it, or
 * it is the first read since the holders changed. Holders are asked without a lock; under it
 * placements are looked up, and shown updates noted.
 */
public final class Copies implements AnswerWitness, AutoCloseable {
  /** How often Copies decides which objects it follows, in milliseconds. */
  public static final long PERIOD_MILLIS = 2_000;

  /**
   * The answer of a copy to a read.
   *
   * @param holder the datacenter that told the copy its state
   */
  public record Answer(Reply reply, String holder) {}

  private final Holders around;
  private final LongSupplier millis;
  private final boolean isOff;
  private final CopyCounts counts = new CopyCounts();
  private final CopyTable table;
  private final Subscriber subscriber;

  // Guarded by the table's lock.
  private final Interest interest;
  private boolean ticks;
  private boolean closed;

  /** The placement of keyspaces when the subscriptions were last compared with it. */
  private volatile Object placement = "";

  /**
   * @param millis the datacenter's clock, in milliseconds since 1970, by which expired data is
   *     hidden
   */
  public Copies(Holders around, CopySettings settings, LongSupplier millis) {
    this.around = around;
    this.millis = millis;
    this.isOff = settings.bytes() == 0 || settings.followed() == 0;
    this.interest = new Interest(new CopyRule(settings.msWorth()), settings.followed());
    this.table = new CopyTable(settings, interest, counts);
    this.subscriber = new Subscriber(around, table, interest, counts, millis);
  }

  public Snapshot.Copies figures() {
    return counts.figures(table.size(), table.stale().size(), table.bytes());
  }

  /** Returns whether reads of a key are answered from a copy at present. */
  public boolean answers(String keyspace, Key key) {
    Copy copy = table.find(keyspace, key);
    return copy != null && copy.covering(VersionVector.EMPTY) != null;
  }

  // ---------------------------------------------------------------- reads

  /**
   * Answers a read from a copy.
   *
   * @param isNext whether no earlier request of the connection waits for its answer
   * @return null if the read must be forwarded
   */
  public @Nullable Answer answer(Request.Read read, boolean isNext) {
    if (!table.isEmpty() && around.placed() != placement) {
      cutChanged();
    }
    Copy copy = table.find(read.keyspace(), read.key());
    if (copy == null) {
      return null;
    }
    if (read.ordered() || !isNext) {
      counts.missed(Copy.Miss.ORDER);
      return null;
    }
    Copy.Version version = copy.covering(read.after());
    if (version == null) {
      boolean isEmpty = copy.version() == null;
      counts.missed(isEmpty ? Copy.Miss.EMPTY : Copy.Miss.BEHIND);
      if (!isEmpty) {
        subscriber.refresh(copy.of());
      }
      return null;
    }
    shows(read, copy.of());
    copy.hit();
    counts.hit();
    return new Answer(answer(read, version), copy.of().holder());
  }

  /**
   * Notes what a session has seen elsewhere, so that a later request of it to another holder waits
   * for that.
   */
  private void shows(Request.Read read, Subscription of) {
    if (!read.after().isAtMost(of.noted())) {
      around.shows(read.keyspace(), of.partition(), read.after());
      of.notes(read.after());
    }
  }

  /**
   * Answers a read that failed with UNAVAILABLE from a copy whose subscription has ended, if the
   * keyspace allows stale reads, none of its holders can be asked, and the copy is not too old. The
   * answer contains the age of the copy.
   *
   * @return null if there is no such copy
   */
  public @Nullable Answer stale(Request.Read read) {
    Copy copy = table.stale().find(read.keyspace(), read.key());
    if (copy == null || isSpent(copy) || canBeAsked(copy.of())) {
      return null;
    }
    Copy.Version version = copy.covering(read.after());
    if (version == null) {
      return null;
    }
    shows(read, copy.of());
    counts.staleRead();
    Reply reply = answer(read, version);
    return new Answer(
        reply instanceof Reply.Answer answer ? answer.aged(age(copy)) : reply, copy.of().holder());
  }

  /** Returns the age that a copy has at most. */
  private Duration age(Copy copy) {
    return Duration.ofMillis(Math.max(0, millis.getAsLong() - copy.of().asOfMillis()));
  }

  /** Returns whether a stale copy is too old, or its keyspace has other holders by now. */
  private boolean isSpent(Copy copy) {
    String keyspace = copy.of().keyspace();
    return age(copy).compareTo(around.staleReads(keyspace)) > 0
        || around.heldElsewhere(keyspace).filter(copy.of().held()::equals).isEmpty();
  }

  private boolean canBeAsked(Subscription of) {
    return of.held().dcs().stream().anyMatch(around::mayAsk);
  }

  private Reply answer(Request.Read read, Copy.Version version) {
    try {
      return Reads.of(version.states(), read, millis);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), e.reason());
    }
  }

  // ---------------------------------------------------------------- what is forwarded

  /** Notes what the answer to a forwarded request has shown, and that an object was read. */
  @Override
  public void answered(
      String dc, Request request, Optional<Integer> partition, Reply reply, int size) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return;
    }
    if (reply instanceof Reply.Failure f) {
      if (f.code() == ErrorCode.SESSION_LOST && partition.isPresent()) {
        lost(keyspace, partition.get());
      }
      return;
    }
    List<Key> keys = Forwardable.keys(request);
    if (partition.isEmpty()) {
      int each = 0;
      for (VersionVector seen : ShownVersions.seenOfAll(reply)) {
        shown(keyspace, each++, seen);
      }
    } else {
      Subscription of = table.find(keyspace, partition.get());
      if (of != null) {
        of.answered(dc);
      }
      VersionVector after = request.after();
      VersionVector seen = ShownVersions.seen(reply);
      shown(keyspace, partition.get(), keys.isEmpty() ? after.join(seen) : after);
      table.sees(keyspace, keys, seen);
    }
    if (request instanceof Request.Read read && reply instanceof Reply.Answer answer) {
      read(read, dc, answer, size);
    }
  }

  private void read(Request.Read read, String holder, Reply.Answer answer, long size) {
    if (isOff || answer.type().filter(Followers::isRefused).isPresent()) {
      return;
    }
    ObjectName name = new ObjectName(read.keyspace(), read.key());
    Copy copy = table.find(name);
    boolean begins;
    synchronized (table) {
      if (closed) {
        return;
      }
      if (copy == null) {
        interest.read(name, holder, size);
      } else if (copy.version() == null) {
        copy.demand().read(1, size); // later it is worth only what it answers itself
      }
      begins = !ticks;
      ticks = true;
    }
    if (begins) {
      around.later(this::tick, PERIOD_MILLIS);
    }
  }

  /**
   * Drops the copies of a partition of which shown updates are lost: they would wait for these
   * updates for ever.
   */
  private void lost(String keyspace, int partition) {
    synchronized (table) {
      Subscription of = table.find(keyspace, partition);
      if (of != null) {
        table.cut(of, false);
      }
      table.stale().of(keyspace, partition).forEach(table::dropStale);
    }
  }

  /**
   * Notes that a forwarded answer, or its request, shows these updates of a partition, of unknown
   * keys; called before the client gets the answer.
   */
  private void shown(String keyspace, int partition, VersionVector seen) {
    Subscription of = table.find(keyspace, partition);
    if (of != null) {
      of.sees(seen);
    }
    table.stale().sees(keyspace, partition, seen);
  }

  // ---------------------------------------------------------------- what is followed

  private void tick() {
    boolean goesOn = true;
    try {
      List<Copy> begun = new ArrayList<>();
      List<Subscription> all;
      synchronized (table) {
        interest.nextPeriod();
        cutChanged();
        look();
        choose(begun);
        table.stale().all().stream().filter(this::isSpent).forEach(table::dropStale);
        goesOn = !closed && !(interest.isIdle() && table.isEmpty() && table.stale().isEmpty());
        ticks = goesOn;
        all = table.subscriptions();
      }
      begin(begun);
      all.forEach(subscriber::ask);
    } finally {
      if (goesOn) {
        around.later(this::tick, PERIOD_MILLIS);
      }
    }
  }

  /** Ends the subscriptions of keyspaces whose holders have changed. */
  private void cutChanged() {
    synchronized (table) {
      Object now = around.placed();
      for (Subscription each : table.subscriptions()) {
        if (around.heldElsewhere(each.keyspace()).filter(each.held()::equals).isEmpty()) {
          table.cut(each, false);
        }
      }
      placement = now; // until then concurrent reads come here, too
    }
  }

  /**
   * Ends subscriptions to holders that are no longer asked, as another one is nearer, and copies
   * that cost more than they save.
   */
  private void look() {
    for (Subscription of : table.subscriptions()) {
      String to = of.movedTo();
      if (to != null) {
        moves(of, to);
      }
    }
    ToDoubleFunction<String> ways = roundTrips();
    for (Copy copy : table.all()) {
      copy.demand().readFromCopy(copy.takeHits());
      if (!interest.isWorthIt(copy.demand(), ways.applyAsDouble(copy.of().holder()))) {
        table.drop(copy, CopyCounts.Dropped.UNWORTHY);
      }
    }
  }

  /** Ends a subscription; its objects may be copied again from the holder that is asked now. */
  private void moves(Subscription of, String to) {
    for (Copy copy : of.copies().values()) {
      copy.demand().readFromCopy(copy.takeHits());
      interest.isAt(copy.name(), to);
    }
    table.cut(of, !around.staleReads(of.keyspace()).isZero());
  }

  private void choose(List<Copy> begun) {
    Iterator<Interest.Saving> least = null;
    for (Interest.Candidate each : interest.candidates(table::contains, around::roundTripMillis)) {
      ForwardingHost.Held held = around.heldElsewhere(each.name().keyspace()).orElse(null);
      if (held == null) {
        continue; // the keyspace is gone, or held here by now: no copy makes way for it
      }
      while (table.isFull() && table.dropStale()) {
        // stale copies make way
      }
      if (table.isFull()) {
        least = least == null ? interest.leastFirst(table.all(), roundTrips()) : least;
        if (!least.hasNext() || !makesWay(least.next(), each)) {
          return;
        }
      }
      Copy copy = table.tryAdd(each, held);
      if (copy != null) {
        begun.add(copy);
      }
    }
  }

  /** Returns the round trips to holders, in milliseconds, each looked up once. */
  private ToDoubleFunction<String> roundTrips() {
    Map<String, Double> known = new HashMap<>();
    return holder -> known.computeIfAbsent(holder, around::roundTripMillis);
  }

  /** Drops a copy for another object that saves clearly more; returns whether it did. */
  private boolean makesWay(Interest.Saving least, Interest.Candidate more) {
    boolean ends = more.saved() >= CopyRule.CLEARLY * least.saved();
    if (ends) {
      table.drop(least.copy(), CopyCounts.Dropped.BUDGET);
    }
    return ends;
  }

  /** Tells new copies what was shown before reads could find them, so that they show no less. */
  private void begin(List<Copy> begun) {
    for (Copy copy : begun) {
      copy.begin(around.shown(copy.of().keyspace(), copy.of().partition()));
    }
  }

  /** Drops all copies and follows nothing more. */
  @Override
  public void close() {
    synchronized (table) {
      closed = true;
      table.subscriptions().forEach(of -> table.cut(of, false));
      table.stale().all().forEach(table::dropStale);
    }
  }
}
