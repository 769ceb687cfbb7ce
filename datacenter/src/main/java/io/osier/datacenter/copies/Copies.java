package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.forward.KeyspaceHolders;
import io.osier.datacenter.partition.Reads;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Copies of objects that others hold and that are read here often. A copy answers a read only if it
 * has all that was shown of its key here and all that the session has seen elsewhere; so no read
 * shows less than one before it. Thread-safe; a read takes no lock, unless its session has seen
 * more elsewhere than those before it, and others are called without one.
 */
public final class Copies implements AutoCloseable {
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
  private final CopyTable copies;

  private record PartitionName(String keyspace, int partition) {}

  private final Map<PartitionName, Subscription> subscriptions = new ConcurrentHashMap<>();

  // Under this one's lock.
  private final Interest interest;
  private long number;
  private boolean ticks;
  private boolean closed;

  /** Who held what when that was looked at last. */
  private volatile Object placement = "";

  /**
   * Nothing is followed.
   *
   * @param millis the datacenter's time, in milliseconds since 1970: what has expired is not shown
   */
  public Copies(Holders around, CopySettings settings, LongSupplier millis) {
    this.around = around;
    this.millis = millis;
    this.isOff = settings.bytes() == 0 || settings.followed() == 0;
    this.copies = new CopyTable(settings.followed(), settings.bytes());
    this.interest = new Interest(new CopyRule(settings.msWorth()), settings.followed());
  }

  /** What copies do. */
  public CopyCounts.Figures figures() {
    return counts.figures(copies.size(), copies.bytes());
  }

  /** Whether reads of a key are answered from a copy at present. */
  public boolean answers(String keyspace, Key key) {
    Copy copy = copies.find(keyspace, key);
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
    if (!copies.isEmpty() && around.placed() != placement) {
      cutChanged();
    }
    Copy copy = copies.find(read.keyspace(), read.key());
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
        refresh(copy.of());
      }
      return null;
    }
    if (!read.after().isAtMost(copy.of().noted())) {
      around.shows(read.keyspace(), copy.of().partition(), read.after());
      copy.of().notes(read.after());
    }
    copy.hit();
    counts.hit();
    return new Answer(answer(read, version), copy.of().holder());
  }

  private Reply answer(Request.Read read, Copy.Version version) {
    try {
      return Reads.of(version.states(), read, millis);
    } catch (OsierException e) {
      return new Reply.Failure(e.code(), e.reason());
    }
  }

  // ---------------------------------------------------------------- what is forwarded

  /** A read was answered by a holder. */
  void read(Request.Read read, String holder, Reply.Answer answer, long size) {
    if (isOff || answer.type().filter(Followers::isRefused).isPresent()) {
      return;
    }
    ObjectName name = new ObjectName(read.keyspace(), read.key());
    Copy copy = copies.find(name);
    boolean begins;
    synchronized (this) {
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
  void shown(String keyspace, List<Key> keys, VersionVector seen) {
    for (Key key : keys) {
      Copy copy = copies.find(keyspace, key);
      if (copy != null) {
        copy.sees(seen);
      }
    }
  }

  /** A datacenter has answered a forwarded request about a partition. */
  void answered(String dc, String keyspace, int partition) {
    Subscription of = subscriptions.get(new PartitionName(keyspace, partition));
    if (of != null) {
      of.answered(dc);
    }
  }

  /** Something that was shown of a partition is lost, so what waits for it would wait for ever. */
  synchronized void lost(String keyspace, int partition) {
    Subscription of = subscriptions.get(new PartitionName(keyspace, partition));
    if (of != null) {
      cut(of);
    }
  }

  /**
   * A forwarded answer, or its request, shows this of a partition. Called before it is passed on.
   */
  void shown(String keyspace, int partition, VersionVector seen) {
    Subscription of = subscriptions.get(new PartitionName(keyspace, partition));
    if (of != null) {
      of.sees(seen);
    }
  }

  // ---------------------------------------------------------------- what is followed

  private void tick() {
    boolean goesOn = true;
    try {
      List<Copy> begun = new ArrayList<>();
      List<Subscription> all;
      synchronized (this) {
        interest.nextPeriod();
        cutChanged();
        look();
        choose(begun);
        goesOn = !closed && (!interest.isIdle() || !copies.isEmpty());
        ticks = goesOn;
        all = List.copyOf(subscriptions.values());
      }
      begin(begun);
      all.forEach(this::ask);
    } finally {
      if (goesOn) {
        around.later(this::tick, PERIOD_MILLIS);
      }
    }
  }

  /** Ends the subscriptions of keyspaces that others hold now. */
  private synchronized void cutChanged() {
    placement = around.placed();
    for (Subscription each : List.copyOf(subscriptions.values())) {
      if (around.heldElsewhere(each.keyspace()).filter(each.held()::equals).isEmpty()) {
        cut(each);
      }
    }
  }

  /** Ends those whose holder is asked no more, as another is nearer, or that are not worth it. */
  private void look() {
    for (Subscription of : List.copyOf(subscriptions.values())) {
      String to = of.movedTo();
      if (to != null) {
        moves(of, to);
      }
    }
    Map<String, Double> ways = new HashMap<>();
    for (Copy copy : copies.all()) {
      copy.demand().readFromCopy(copy.takeHits());
      double way = ways.computeIfAbsent(copy.of().holder(), around::roundTripMillis);
      if (!interest.isWorthIt(copy.demand(), way)) {
        drop(copy, CopyCounts.Dropped.UNWORTHY);
      }
    }
  }

  /** Its copies may begin again at another holder, as they are read there. */
  private void moves(Subscription of, String to) {
    for (Copy copy : of.copies().values()) {
      copy.demand().readFromCopy(copy.takeHits());
      interest.isAt(copy.name(), to);
    }
    cut(of);
  }

  private void choose(List<Copy> begun) {
    for (Interest.Candidate each : interest.candidates(copies::contains, around::roundTripMillis)) {
      if (!copies.isFull()) {
        follow(each, begun);
      }
    }
  }

  private void follow(Interest.Candidate each, List<Copy> begun) {
    String keyspace = each.name().keyspace();
    KeyspaceHolders.Held held = around.heldElsewhere(keyspace).orElse(null);
    if (held == null) {
      return;
    }
    Copy copy = copies.tryAdd(each.name(), () -> newCopy(each, keyspace, held));
    if (copy != null) {
      copy.of().add(copy);
      begun.add(copy);
    }
  }

  private Copy newCopy(Interest.Candidate each, String keyspace, KeyspaceHolders.Held held) {
    int partition = each.name().key().partition(held.partitions());
    Subscription of =
        subscriptions.computeIfAbsent(
            new PartitionName(keyspace, partition),
            name -> new Subscription(keyspace, partition, each.holder(), held, ++number));
    return new Copy(each.name(), ++number, of, each.demand());
  }

  /** What was shown before a copy could be found must be in what it shows. */
  private void begin(List<Copy> begun) {
    for (Copy copy : begun) {
      copy.begin(around.shown(copy.of().keyspace(), copy.of().partition()));
    }
  }

  private void ask(Subscription of) {
    List<FollowCodec.Ask> asks;
    synchronized (this) {
      asks = of.asks();
    }
    asks.forEach(ask -> ask(of, ask));
  }

  private void refresh(Subscription of) {
    FollowCodec.Ask ask;
    synchronized (this) {
      if (!of.refresh()) {
        return;
      }
      ask = of.refreshing();
    }
    ask(of, ask);
  }

  private void ask(Subscription of, FollowCodec.Ask ask) {
    around.ask(
        of.holder(),
        out -> FollowCodec.write(out, ask),
        ask.waitMillis(),
        answer -> answered(of, answer));
  }

  private void answered(Subscription of, @Nullable WireInput in) {
    FollowCodec.Answer answer = null;
    if (in != null) {
      try {
        answer = FollowCodec.readAnswer(in);
      } catch (MalformedException e) {
        // A former version refuses, as one does that has no room.
      }
    }
    synchronized (this) {
      if (of.isEnded()) {
        return;
      }
      if (answer == null) {
        if (in != null && !of.isTold()) { // else the link was lost, or what it knew of this one
          interest.refuses(of.holder());
        }
        cut(of);
        return;
      }
      for (FollowCodec.Answer next : of.inOrder(answer)) {
        take(of, next);
      }
    }
    ask(of);
  }

  private void take(Subscription of, FollowCodec.Answer answer) {
    VersionVector shown = VersionVector.EMPTY;
    List<Runnable> sets = new ArrayList<>();
    for (FollowCodec.Told told : answer.objects()) {
      Copy copy = of.copies().get(told.number());
      if (copy == null) {
        continue; // followed no more
      }
      counts.version();
      copy.demand().shipped(told.bytes());
      Copy.Version version = told.states().map(Copies::version).orElse(null);
      if (version == null) {
        drop(copy, CopyCounts.Dropped.REFUSED);
      } else if (!copies.makeRoom(copy, version)) {
        drop(copy, CopyCounts.Dropped.BUDGET);
      } else {
        shown = shown.join(version.context());
        sets.add(() -> copy.set(version));
      }
    }
    around.shows(of.keyspace(), of.partition(), shown);
    sets.forEach(Runnable::run);
    answer.through().ifPresent(of::reached);
  }

  private static Copy.Version version(List<CrdtState> states) {
    VersionVector context = VersionVector.EMPTY;
    long size = 0;
    for (CrdtState state : states) {
      context = context.join(state.context().toVersionVector());
      size += state.heapBytes();
    }
    return new Copy.Version(states, context, size + context.heapBytes());
  }

  private void drop(Copy copy, CopyCounts.Dropped why) {
    if (!copies.remove(copy)) {
      return;
    }
    copy.of().remove(copy);
    if (why != CopyCounts.Dropped.CUT) {
      interest.wasNotWorthIt(copy.demand());
    }
    counts.dropped(why);
    if (copy.of().copies().isEmpty()) {
      end(copy.of());
    }
  }

  private void cut(Subscription of) {
    List.copyOf(of.copies().values()).forEach(copy -> drop(copy, CopyCounts.Dropped.CUT));
    end(of);
  }

  private void end(Subscription of) {
    of.end();
    subscriptions.remove(new PartitionName(of.keyspace(), of.partition()), of);
  }

  /** Follows nothing more. */
  @Override
  public synchronized void close() {
    closed = true;
    List.copyOf(subscriptions.values()).forEach(this::cut);
  }
}
