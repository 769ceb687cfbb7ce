package io.osier.propagation.out;

import static java.util.Objects.requireNonNull;

import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.Decomposition;
import io.osier.crdt.EntryKey;
import io.osier.crdt.EntryRanges;
import io.osier.crdt.ObjectId;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The large states that one peer lacks something of: they are not shipped but offered, a few at a
 * time, and the peer pulls what it lacks, by {@link EntryRanges}. What that takes is in its
 * requests, but for the versions that were offered. Not thread-safe.
 */
final class Offers {
  /** A peer that says nothing to an offer so many times is given the state. */
  private static final int ATTEMPTS_MAX = 10;

  private static final int PAUSES_DOUBLED_MAX = 4;

  /** So many are offered at a time: each takes some ways there and back. */
  private static final int OPEN_MAX = 16;

  /**
   * Of {@link io.osier.propagation.host.StreamSettings#pullBytes}: what a range has of entries.
   * Answers with entries have about as many bytes as it.
   */
  private static final int RANGE_SHARE = 512;

  /** Of a frame's usual bytes: a page of ranges, for which both sides read many entries. */
  private static final int PAGE_SHARE = 4;

  private final Consumer<Frame> sends;
  private final Surroundings around;
  private boolean peerPulls;
  private long epoch;
  private long number;

  /** Objects that are to be offered, in their order. */
  private final LinkedHashSet<ObjectId> waiting = new LinkedHashSet<>();

  /** Those that are offered. */
  private final LinkedHashMap<ObjectId, Offered> open = new LinkedHashMap<>();

  /** The sizes of those. */
  private long openBytes;

  private final Map<ObjectId, Pulled> pulled = new HashMap<>();

  /** Objects that the peer did not pull. */
  private final Set<ObjectId> leftAlone = new HashSet<>();

  /**
   * A version that the peer has pulled.
   *
   * @param tick all that was shipped up to this one is in it
   * @param last this datacenter's last commit number in it
   */
  record Pulled(long tick, long last) {}

  /** A version that is being pulled. */
  private static final class Offered {
    final long number;
    final ObjectId object;
    final Causal state;

    /** All that was shipped up to this tick is in it. */
    final long tick;

    /** The page of ranges that was asked for last; null before. */
    @Nullable List<EntryRanges.Range> page;

    EntryKey after = EntryKey.NONE;
    long saidNanos;
    int attempts;

    Offered(long number, ObjectId object, Causal state, long tick, long nowNanos) {
      this.number = number;
      this.object = object;
      this.state = state;
      this.tick = tick;
      this.saidNanos = nowNanos;
    }
  }

  /**
   * Nothing is offered.
   *
   * @param sends to the peer
   */
  Offers(Consumer<Frame> sends, Surroundings around) {
    this.sends = sends;
    this.around = around;
  }

  /** Whether the peer knows offers. */
  void peerPulls(boolean itDoes) {
    peerPulls = itDoes;
  }

  /** The stream begins anew. */
  void begin(long newEpoch) {
    epoch = newEpoch;
    number = 0;
    interrupted();
    pulled.clear();
    leftAlone.clear();
  }

  /** Nothing can be sent to the peer. */
  void interrupted() {
    closeAll();
    waiting.clear();
  }

  /** Before others: the peer has some of it, which takes the room that others may need. */
  private void offerAnew(ObjectId object) {
    waiting.addFirst(object);
  }

  private void closeAll() {
    open.clear();
    openBytes = 0;
  }

  /** A scan of all objects begins: the trail has only what is shipped from now on. */
  void scanBegins() {
    pulled.clear();
    open.sequencedKeySet().reversed().forEach(this::offerAnew);
    closeAll();
  }

  /** Whether the peer is still to pull something. */
  boolean isPending() {
    return !waiting.isEmpty() || !open.isEmpty();
  }

  /** Whether the peer is still to pull an object. */
  boolean isPending(ObjectId object) {
    return waiting.contains(object) || open.containsKey(object);
  }

  /**
   * Whether a state is offered instead of being shipped; from then on it {@link #isPending}.
   *
   * @param state the object's, or a former one
   */
  boolean takes(ObjectId object, Causal state) {
    if (state.sizeBytes() <= around.settings().pullBytes()
        || !peerPulls
        || leftAlone.contains(object)) {
      return false;
    }
    Causal present = around.replica().state(object);
    if (present == null || !EntryRanges.arePossible(present)) {
      return false;
    }
    pulled.remove(object); // more than that is lacking
    waiting.add(object);
    return true;
  }

  /** What the peer has pulled of an object; null if nothing. */
  @Nullable Pulled pulled(ObjectId object) {
    return pulled.get(object);
  }

  /**
   * Offers what is next, as far as there is room; says once more what is offered, where that or its
   * answer seems to be lost.
   *
   * @param tick the last at which something was shipped
   * @param leftAlone takes objects that are to be looked at again, since they cannot be pulled
   */
  void tick(long tick, Consumer<ObjectId> leftAlone, long nowNanos) {
    for (Offered what : List.copyOf(open.values())) {
      if (nowNanos >= dueNanos(what)) {
        what.attempts++;
        what.saidNanos = nowNanos;
        if (what.attempts > ATTEMPTS_MAX) {
          close(what);
          leaveAlone(what.object, leftAlone);
        } else {
          say(what);
        }
      }
    }
    while (mayOpen()) {
      ObjectId object = waiting.iterator().next();
      waiting.remove(object);
      Causal state = around.replica().state(object);
      if (state == null || !EntryRanges.arePossible(state)) {
        leaveAlone(object, leftAlone);
      } else {
        number++;
        Offered what = new Offered(number, object, state, tick, nowNanos);
        open.put(object, what);
        openBytes += state.sizeBytes();
        say(what);
      }
    }
  }

  private boolean mayOpen() {
    return !waiting.isEmpty()
        && (open.isEmpty()
            || (open.size() < OPEN_MAX && openBytes < around.settings().memory().waiting()));
  }

  private void leaveAlone(ObjectId object, Consumer<ObjectId> leftAlone) {
    this.leftAlone.add(object);
    leftAlone.accept(object);
  }

  private void close(Offered what) {
    open.remove(what.object);
    openBytes -= what.state.sizeBytes();
  }

  private void say(Offered what) {
    // So that it stays the same while it is pulled.
    boolean unused = Decomposition.hold(what.state);
    sends.accept(new Frame.Offer(epoch, what.number, what.object, what.state.context()));
  }

  /** When {@link #tick} has something to do; Long.MAX_VALUE if nothing. */
  long dueNanos() {
    if (mayOpen()) {
      return Long.MIN_VALUE;
    }
    long due = Long.MAX_VALUE;
    for (Offered what : open.values()) {
      due = Math.min(due, dueNanos(what));
    }
    return due;
  }

  private long dueNanos(Offered what) {
    int doubled = Math.min(what.attempts, PAUSES_DOUBLED_MAX);
    return what.saidNanos + (around.retryNanos() << doubled);
  }

  /**
   * Answers a request.
   *
   * @return the object that the peer has all of now, as it was offered; null if it has not
   */
  @Nullable ObjectId pull(Frame.Pull pull, long nowNanos) {
    Offered what = open.get(pull.object());
    if (what == null || pull.epoch() != epoch || pull.number() != what.number) {
      return null; // late
    }
    what.saidNanos = nowNanos;
    // Who pulls one may let others wait.
    open.values().forEach(each -> each.attempts = 0);
    if (pull.done()) {
      pulled.put(what.object, new Pulled(what.tick, last(what)));
      close(what);
      return what.object;
    }
    if (!Decomposition.hold(what.state)) {
      close(what); // the version is lost: another one is offered, with which the peer goes on
      offerAnew(what.object);
      return null;
    }
    List<EntryRanges.Range> page = page(what, pull.after());
    if (pull.ranges().isEmpty()) {
      sends.accept(new Frame.Ranges(epoch, what.number, what.object, pull.after(), page));
    } else if (pull.ranges().getLast() < page.size()) {
      sends.accept(entries(what, pull, page));
    }
    return null;
  }

  private long last(Offered what) {
    return what.state.context().through(around.self());
  }

  private List<EntryRanges.Range> page(Offered what, EntryKey after) {
    if (what.page == null || !what.after.equals(after)) {
      what.after = after;
      what.page =
          EntryRanges.of(
              what.state,
              after,
              around.settings().pullBytes() / RANGE_SHARE,
              around.settings().frameBytes() / PAGE_SHARE);
    }
    return requireNonNull(what.page);
  }

  private Frame entries(Offered what, Frame.Pull pull, List<EntryRanges.Range> page) {
    EntryRanges.Some some =
        EntryRanges.entries(
            what.state, pull.after(), page, pull.ranges(), around.settings().pullBytes());
    Shipment shipment =
        new Shipment(
            what.object, around.self(), 0, VersionVector.EMPTY, last(what), 0, 0, some.content());
    return new Frame.Entries(epoch, what.number, pull.after(), some.ranges(), shipment);
  }
}
