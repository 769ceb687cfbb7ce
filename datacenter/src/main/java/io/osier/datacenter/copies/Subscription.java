package io.osier.datacenter.copies;

import io.osier.core.VersionVector;
import io.osier.datacenter.forward.ForwardingHost;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The copies of one partition, and the vector up to which the holder has told their changes. The
 * methods about what was shown, noted or answered, and about that vector, are for any thread;
 * everything else is guarded by the lock of {@link Copies}.
 */
final class Subscription {
  /** How many questions are in flight or wait at the holder, so that one always waits there. */
  static final int WINDOW = 4;

  /** The longest time that a holder without a change waits before it answers. */
  static final int WAIT_MILLIS = 10_000;

  /**
   * The most questions in flight while keys are to be named; the holder ends subscriptions with
   * more.
   */
  private static final int ASKED_MAX = 4 * WINDOW;

  /**
   * The subscription moves once other holders have answered for this many periods: if one period
   * were enough, each short pause of the holder would make all copies begin anew.
   */
  static final int MOVED_PERIODS = 3;

  /** The most keys that one question names. */
  private static final int KEYS_MAX = 500;

  private final String keyspace;
  private final int partition;
  private final String holder;
  private final ForwardingHost.Held held;
  private final long number;

  private final Map<Long, Copy> copies = new HashMap<>();

  /** Keys that the holder was not asked to follow yet. */
  private List<FollowCodec.Added> added = new ArrayList<>();

  /** The numbers of keys that the holder was not told to drop yet. */
  private List<Long> removed = new ArrayList<>();

  /** Answers that have come before an earlier one, by their number. */
  private final TreeMap<Long, Heard> early = new TreeMap<>();

  /** The number of questions. */
  private long asked;

  /** The number of answers that have come. */
  private long heard;

  /** The number of answers that were taken, in their order. */
  private long taken;

  private boolean ended;

  /** In how many periods others have answered forwarded requests since the holder answered one. */
  private int elsewhere;

  /** Whether the vector of the holder was asked for and has not come yet. */
  private boolean refreshes;

  /** Whether the holder has answered a forwarded request in this period. */
  private volatile boolean byHolder;

  /** The other holder that has answered a forwarded request in this period last; null for none. */
  private volatile @Nullable String other;

  private volatile VersionVector through = VersionVector.EMPTY;
  private volatile long asOfMillis;
  private volatile VersionVector noted = VersionVector.EMPTY;
  private volatile VersionVector shown = VersionVector.EMPTY;

  /**
   * An answer of the holder; nothing in it is older than its question.
   *
   * @param askedMillis when its question was sent, in milliseconds since 1970
   */
  record Heard(FollowCodec.Answer answer, long askedMillis) {}

  /**
   * @param holder the datacenter that is asked
   * @param held the holders of the keyspace at the beginning
   */
  Subscription(
      String keyspace, int partition, String holder, ForwardingHost.Held held, long number) {
    this.keyspace = keyspace;
    this.partition = partition;
    this.holder = holder;
    this.held = held;
    this.number = number;
  }

  String keyspace() {
    return keyspace;
  }

  int partition() {
    return partition;
  }

  String holder() {
    return holder;
  }

  ForwardingHost.Held held() {
    return held;
  }

  /** Returns the vector of the updates that each copy with a version contains. */
  VersionVector through() {
    return through;
  }

  /**
   * Returns a time, in milliseconds since 1970: each copy with a version is what the holder had
   * then, or later.
   */
  long asOfMillis() {
    return asOfMillis;
  }

  /** Returns what forwarded answers have shown of the partition, of unknown keys. */
  VersionVector shown() {
    return shown;
  }

  /**
   * Returns what sessions that copies answered have seen elsewhere, as far as {@link Holders#shows}
   * was told.
   */
  VersionVector noted() {
    return noted;
  }

  /** Notes that {@link Holders#shows} was told of these updates. */
  synchronized void notes(VersionVector after) {
    noted = noted.join(after);
  }

  /** Notes that a forwarded answer shows these updates of the partition, of unknown keys. */
  synchronized void sees(VersionVector seen) {
    if (!seen.isAtMost(shown)) {
      shown = shown.join(seen);
    }
  }

  /** Notes that a datacenter has answered a forwarded request about the partition. */
  void answered(String dc) {
    if (dc.equals(holder)) {
      byHolder = true;
    } else {
      other = dc;
    }
  }

  /**
   * Ends a period, and returns the holder to which the subscription should move: the one that has
   * answered last. Null if the holder has answered in one of the last {@link #MOVED_PERIODS}
   * periods with forwarded requests, or there were too few of them.
   */
  @Nullable String movedTo() {
    String moved = byHolder ? null : other;
    elsewhere = byHolder ? 0 : elsewhere + (moved == null ? 0 : 1);
    other = null;
    byHolder = false;
    return elsewhere >= MOVED_PERIODS ? moved : null;
  }

  /** Returns whether the holder has answered. */
  boolean isTold() {
    return taken > 0;
  }

  boolean isEnded() {
    return ended;
  }

  void end() {
    ended = true;
  }

  Map<Long, Copy> copies() {
    return copies;
  }

  void add(Copy copy) {
    copies.put(copy.number(), copy);
    added.add(new FollowCodec.Added(copy.number(), copy.name().key()));
  }

  void remove(Copy copy) {
    if (copies.remove(copy.number()) != null) {
      removed.add(copy.number());
    }
  }

  /** Notes that the vector of the holder is wanted; returns false if it was asked for already. */
  boolean refresh() {
    boolean first = !refreshes && !ended;
    refreshes |= first;
    return first;
  }

  /**
   * Returns the next questions.
   *
   * @param waitMillis how long the holder waits for a change, at most {@link #WAIT_MILLIS}
   * @return empty if enough questions are in flight
   */
  List<FollowCodec.Ask> asks(int waitMillis) {
    // The holder would follow a copy that is no more for ever.
    added.removeIf(each -> !copies.containsKey(each.number()));
    List<FollowCodec.Ask> asks = new ArrayList<>();
    while (!ended && asked - taken < (added.isEmpty() && removed.isEmpty() ? WINDOW : ASKED_MAX)) {
      asks.add(next(waitMillis));
    }
    return asks;
  }

  /**
   * Returns a question for the vector of the holder. It names no keys, as a reading thread sends it
   * and later questions may overtake it.
   */
  FollowCodec.Ask refreshing() {
    return new FollowCodec.Ask(keyspace, partition, number, ++asked, List.of(), List.of(), 0);
  }

  private FollowCodec.Ask next(int waitMillis) {
    List<FollowCodec.Added> add = added.subList(0, Math.min(KEYS_MAX, added.size()));
    List<Long> remove = removed.subList(0, Math.min(KEYS_MAX, removed.size()));
    asked++;
    FollowCodec.Ask ask =
        new FollowCodec.Ask(keyspace, partition, number, asked, add, remove, waitMillis);
    added = new ArrayList<>(added.subList(add.size(), added.size()));
    removed = new ArrayList<>(removed.subList(remove.size(), removed.size()));
    return ask;
  }

  /** Takes an answer, and returns the answers to process now, in their order. */
  List<Heard> inOrder(Heard answer) {
    heard++;
    early.put(answer.answer().step(), answer);
    List<Heard> ready = new ArrayList<>();
    Heard next;
    while ((next = early.remove(taken + 1)) != null) {
      taken++;
      ready.add(next);
    }
    return ready;
  }

  /** Returns whether all questions are answered although an earlier answer is missing. */
  boolean lacksAnAnswer() {
    return heard == asked && taken < asked;
  }

  /**
   * Notes that the states told so far contain all these updates.
   *
   * @param sinceMillis the holder had them then, or later, in milliseconds since 1970
   */
  void reached(VersionVector more, long sinceMillis) {
    through = through.join(more);
    asOfMillis = Math.max(asOfMillis, sinceMillis);
    refreshes = false;
  }
}
