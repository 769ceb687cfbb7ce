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
import io.osier.datacenter.partition.Reads;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Copies of objects that others hold and that are read here often. A copy answers a read only if it
 * has all that was shown of its key here and all that the session has seen elsewhere; so no read
 * shows less than one before it. Thread-safe; a read that a copy answers takes no lock, unless its
 * session has seen more elsewhere than those before it, or it is the first since holders changed.
 * Holders are asked without one; under it are looked up who holds what, and noted what is shown.
 */
public final class Copies implements AnswerWitness, AutoCloseable {
  /** So often it is decided what is followed. */
  public static final long PERIOD_MILLIS = 2_000;

  /**
   * A read's answer.
   *
   * @param holder who has told what is answered
   */
  public record Answer(Reply reply, String holder) {}

  private final Holders around;
  private final LongSupplier millis;
  private final boolean isOff;
  private final CopyCounts counts = new CopyCounts();
  private final CopyTable table;
  private final Subscriber subscriber;

  // Under the table's lock.
  private final Interest interest;
  private boolean ticks;
  private boolean closed;

  /** Who held what when that was looked at last. */
  private volatile Object placement = "";

  /**
   * @param millis the datacenter's time, in milliseconds since 1970: what has expired is not shown
   */
  public Copies(Holders around, CopySettings settings, LongSupplier millis) {
    this.around = around;
    this.millis = millis;
    this.isOff = settings.bytes() == 0 || settings.followed() == 0;
    this.interest = new Interest(new CopyRule(settings.msWorth()), settings.followed());
    this.table = new CopyTable(settings, interest, counts);
    this.subscriber = new Subscriber(around, table, interest, counts, millis);
  }

  public CopyCounts.Figures figures() {
    return counts.figures(table.size(), table.stale().size(), table.bytes());
  }

  /** Whether reads of a key are answered from a copy at present. */
  public boolean answers(String keyspace, Key key) {
    Copy copy = table.find(keyspace, key);
    return copy != null && copy.covering(VersionVector.EMPTY) != null;
  }

  // ---------------------------------------------------------------- reads

  /**
   * Answers a read from a copy.
   *
   * @param isNext whether nothing of its connection is under way that must be answered before it
   * @return null if it must be forwarded
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

  /** The session has seen that, and asks another holder for it later. */
  private void shows(Request.Read read, Subscription of) {
    if (!read.after().isAtMost(of.noted())) {
      around.shows(read.keyspace(), of.partition(), read.after());
      of.notes(read.after());
    }
  }

  /**
   * Answers a read that failed as UNAVAILABLE, from a copy whose subscription has ended: if the
   * keyspace allows that, none of its holders can be asked, and the copy is not too old. It says
   * its age.
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

  /** How old a copy may be by now, at most. */
  private Duration age(Copy copy) {
    return Duration.ofMillis(Math.max(0, millis.getAsLong() - copy.of().asOfMillis()));
  }

  /** Whether a copy whose subscription has ended is too old, or of another keyspace by now. */
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
      shown(keyspace, partition.get(), Forwardable.after(request));
      if (keys.isEmpty()) {
        shown(keyspace, partition.get(), ShownVersions.seen(reply));
      } else {
        shown(keyspace, keys, ShownVersions.seen(reply));
      }
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

  /** A forwarded answer shows this of keys of one partition. Called before it is passed on. */
  private void shown(String keyspace, List<Key> keys, VersionVector seen) {
    for (Key key : keys) {
      Copy copy = table.find(keyspace, key);
      if (copy != null) {
        copy.sees(seen);
      }
      Copy old = table.stale().find(keyspace, key);
      if (old != null) {
        old.sees(seen);
      }
    }
  }

  /** Something that was shown of a partition is lost, so what waits for it would wait for ever. */
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
   * A forwarded answer, or its request, shows this of a partition. Called before it is passed on.
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

  /** Ends the subscriptions of keyspaces that others hold now. */
  private void cutChanged() {
    synchronized (table) {
      Object now = around.placed();
      for (Subscription each : table.subscriptions()) {
        if (around.heldElsewhere(each.keyspace()).filter(each.held()::equals).isEmpty()) {
          table.cut(each, false);
        }
      }
      placement = now; // until then others that read look for themselves, too
    }
  }

  /** Ends those whose holder is asked no more, as another is nearer, or that are not worth it. */
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

  /** Its copies may begin again at another holder, as they are read there. */
  private void moves(Subscription of, String to) {
    for (Copy copy : of.copies().values()) {
      copy.demand().readFromCopy(copy.takeHits());
      interest.isAt(copy.name(), to);
    }
    table.cut(of, !around.staleReads(of.keyspace()).isZero());
  }

  private void choose(List<Copy> begun) {
    Iterator<Saving> least = null;
    for (Interest.Candidate each : interest.candidates(table::contains, around::roundTripMillis)) {
      ForwardingHost.Held held = around.heldElsewhere(each.name().keyspace()).orElse(null);
      if (held == null) {
        continue; // nothing makes way for what is gone, or is held here by now
      }
      while (table.isFull() && table.dropStale()) {
        // what may be old makes way
      }
      if (table.isFull()) {
        least = least == null ? leastFirst() : least;
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

  private record Saving(Copy copy, double saved) {}

  private Iterator<Saving> leastFirst() {
    ToDoubleFunction<String> ways = roundTrips();
    return table.all().stream()
        .map(c -> new Saving(c, interest.saved(c.demand(), ways.applyAsDouble(c.of().holder()))))
        .sorted(Comparator.comparingDouble(Saving::saved))
        .iterator();
  }

  /** Whether a copy ends for another object that saves clearly more. */
  private boolean makesWay(Saving least, Interest.Candidate more) {
    boolean ends = more.saved() >= CopyRule.CLEARLY * least.saved;
    if (ends) {
      table.drop(least.copy, CopyCounts.Dropped.BUDGET);
    }
    return ends;
  }

  /** What was shown before a copy could be found must be in what it shows. */
  private void begin(List<Copy> begun) {
    for (Copy copy : begun) {
      copy.begin(around.shown(copy.of().keyspace(), copy.of().partition()));
    }
  }

  /** Follows nothing more. */
  @Override
  public void close() {
    synchronized (table) {
      closed = true;
      table.subscriptions().forEach(of -> table.cut(of, false));
      table.stale().all().forEach(table::dropStale);
    }
  }
}
