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
 * The copies of one partition, and how far the holder has told what becomes of them. What was
 * shown, noted or answered, and how far the holder has told, is for any thread; all else is under
 * the lock of {@link Copies}.
 */
final class Subscription {
  /** So many questions are on their way or wait at the holder, so that one always waits there. */
  static final int WINDOW = 4;

  /** A holder without a change answers after so long. */
  static final int WAIT_MILLIS = 10_000;

  /** So many are on their way if they name keys; the holder ends more than it has room for. */
  private static final int ASKED_MAX = 4 * WINDOW;

  /**
   * The holder is asked no more once others have answered for so many periods: while it pauses for
   * a moment another one is the nearest, and all copies would begin anew.
   */
  static final int MOVED_PERIODS = 3;

  /** So many keys are named in one question. */
  private static final int KEYS_MAX = 500;

  private final String keyspace;
  private final int partition;
  private final String holder;
  private final ForwardingHost.Held held;
  private final long number;

  private final Map<Long, Copy> copies = new HashMap<>();
  private List<FollowCodec.Added> added = new ArrayList<>();
  private List<Long> removed = new ArrayList<>();
  private final TreeMap<Long, Heard> early = new TreeMap<>();
  private long asked;
  private long heard;
  private long taken;
  private boolean ended;

  /** In so many periods others have answered since the holder has answered last. */
  private int elsewhere;

  /** Whether somebody has asked how far the holder is, and is not answered. */
  private boolean refreshes;

  private volatile boolean byHolder;
  private volatile @Nullable String other;
  private volatile VersionVector through = VersionVector.EMPTY;
  private volatile long asOfMillis;
  private volatile VersionVector noted = VersionVector.EMPTY;
  private volatile VersionVector shown = VersionVector.EMPTY;

  /**
   * An answer of the holder, which has told nothing that is older than the question.
   *
   * @param askedMillis when its question left, by the datacenter's time
   */
  record Heard(FollowCodec.Answer answer, long askedMillis) {}

  /**
   * @param holder who is asked
   * @param held who held the keyspace then
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

  /** All of this is in each copy that has a version. */
  VersionVector through() {
    return through;
  }

  /**
   * Each copy that has a version is what the holder had then, or later: by the datacenter's time,
   * in milliseconds since 1970.
   */
  long asOfMillis() {
    return asOfMillis;
  }

  /** Forwarded answers have shown this of the partition, of whichever keys. */
  VersionVector shown() {
    return shown;
  }

  /** What sessions have seen elsewhere that were answered from copies, as far as it is noted. */
  VersionVector noted() {
    return noted;
  }

  /** More of it is noted. */
  synchronized void notes(VersionVector after) {
    noted = noted.join(after);
  }

  synchronized void sees(VersionVector seen) {
    if (!seen.isAtMost(shown)) {
      shown = shown.join(seen);
    }
  }

  /** A datacenter has answered a request about the partition. */
  void answered(String dc) {
    if (dc.equals(holder)) {
      byHolder = true;
    } else {
      other = dc;
    }
  }

  /**
   * Who has answered what was forwarded in the period that ends, last; null if it was nobody, or
   * the holder has answered some of it in one of the last {@link #MOVED_PERIODS} periods in which
   * something was forwarded.
   */
  @Nullable String movedTo() {
    String moved = byHolder ? null : other;
    elsewhere = byHolder ? 0 : elsewhere + (moved == null ? 0 : 1);
    other = null;
    byHolder = false;
    return elsewhere >= MOVED_PERIODS ? moved : null;
  }

  /** Whether the holder has told anything. */
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

  /** Somebody wants to know how far the holder is; false if it was asked already. */
  boolean refresh() {
    boolean first = !refreshes && !ended;
    refreshes |= first;
    return first;
  }

  /**
   * What is to be asked next.
   *
   * @param waitMillis so long the holder waits for a change, at most {@link #WAIT_MILLIS}
   * @return empty if enough is asked
   */
  List<FollowCodec.Ask> asks(int waitMillis) {
    added.removeIf(each -> !copies.containsKey(each.number())); // it would be added for ever
    List<FollowCodec.Ask> asks = new ArrayList<>();
    while (!ended && asked - taken < (added.isEmpty() && removed.isEmpty() ? WINDOW : ASKED_MAX)) {
      asks.add(next(waitMillis));
    }
    return asks;
  }

  /**
   * What is asked to know how far the holder is. It names no keys: whoever reads sends it, and it
   * may come behind what is asked later.
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

  /** An answer has come: those that are to be taken now, in their order. */
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

  /** Whether all questions are answered, and yet one of the answers has not come. */
  boolean lacksAnAnswer() {
    return heard == asked && taken < asked;
  }

  /**
   * What was told by now holds all of this.
   *
   * @param sinceMillis the holder had it then, or later
   */
  void reached(VersionVector more, long sinceMillis) {
    through = through.join(more);
    asOfMillis = Math.max(asOfMillis, sinceMillis);
    refreshes = false;
  }
}
