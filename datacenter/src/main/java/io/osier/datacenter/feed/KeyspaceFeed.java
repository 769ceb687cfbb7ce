package io.osier.datacenter.feed;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers a keyspace's watchers. Partitions tell what becomes visible while there are watchers, and
 * for {@link WatchedPartitions#LEASE_NANOS} more. All other work is done in turns, by one thread at
 * a time ({@link FeedThread}, or a test), and by the readers that walk through the existing
 * objects. {@link #watch} and the rings are for any thread.
 */
public final class KeyspaceFeed {
  private static final Logger LOG = LoggerFactory.getLogger(KeyspaceFeed.class);

  private static final long SWEEP_NANOS = 100_000_000;

  private final ReplicaId self;
  private final WatchedPartitions partitions;
  private final Runnable signal;
  private final Executor readers;
  private final LongSupplier nanoTime;

  private final Queue<Poll> arrived = new ConcurrentLinkedQueue<>();
  private volatile boolean releases;
  private volatile boolean renews;
  private volatile Reply.@Nullable Failure closed;
  private final Set<ChangeListener> listeners = ConcurrentHashMap.newKeySet();

  // For the thread that has the turn only.
  private final Set<Poll> walkers = new LinkedHashSet<>();
  private final Set<Poll> ofKeys = new LinkedHashSet<>();

  /** Polls whose keys have changed. */
  private final List<Poll> due = new ArrayList<>();

  private final Set<Poll> early = new LinkedHashSet<>();
  private long sweptNanos;

  private volatile int watchers;
  private final AtomicLong cutOff = new AtomicLong();
  private final AtomicLong told = new AtomicLong();

  /**
   * Makes the feed of a keyspace, whose partitions {@link #begin} passes.
   *
   * @param partitioning the keyspace's partitioning
   * @param bytesMax the bytes of the heap that the changes of each partition may take
   * @param readers walk through existing objects
   * @param nanoTime a monotonic clock
   * @param lives draws unique numbers other than 0
   * @param signal makes {@link #turn} be called soon; must not wait
   */
  public KeyspaceFeed(
      ReplicaId self,
      Partitioning partitioning,
      long bytesMax,
      Executor readers,
      LongSupplier nanoTime,
      LongSupplier lives,
      Runnable signal) {
    this.self = self;
    this.readers = readers;
    this.nanoTime = nanoTime;
    this.signal = signal;
    List<ChangeRing> rings =
        Stream.generate(() -> new ChangeRing(bytesMax, signal))
            .limit(partitioning.count())
            .toList();
    this.sweptNanos = nanoTime.getAsLong();
    this.partitions = new WatchedPartitions(partitioning, rings, lives, sweptNanos);
  }

  /** Returns the ring that takes a partition's changes. */
  public ChangeRing ring(int partition) {
    return partitions.rings().get(partition);
  }

  /** Sets the bytes of the heap that the changes of each partition may take. */
  public void setBytesMax(long bytesMax) {
    partitions.rings().forEach(r -> r.setBytesMax(bytesMax));
  }

  public void begin(List<? extends FeedSource> sources) {
    partitions.begin(sources);
  }

  // ---------------------------------------------------------------- asking

  /**
   * Takes a watcher's poll, and answers it later.
   *
   * @throws OsierException INVALID_ARGUMENT, or UNAVAILABLE while the datacenter catches up
   */
  public void watch(WatchRequest request, Consumer<Reply> reply) {
    List<WatchedPartitions.Part> asked = partitions.askedBy(request);
    if (!request.places().isEmpty() && request.places().size() != asked.size()) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a watcher's position has "
              + request.places().size()
              + " partitions, and the keyspace has others: "
              + asked.size());
    }
    if (request.waitMillis() > Request.WATCH_WAIT_MILLIS_MAX) {
      throw new OsierException(
          ErrorCode.INVALID_ARGUMENT,
          "a watcher waits at most " + Request.WATCH_WAIT_MILLIS_MAX + " ms");
    }
    if (!asked.stream().allMatch(part -> part.source().isReady())) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE, "the datacenter has just started and is catching up");
    }
    long now = nanoTime.getAsLong();
    partitions.asked(now, request.prefix());
    arrived.add(
        new Poll(request, self, asked, now + request.waitMillis() * 1_000_000L, reply, due::add));
    Reply.Failure why = closed;
    if (why == null) {
      signal.run();
    } else {
      refuse(why); // no turn may follow
    }
  }

  /**
   * Adds a listener for all changes, which are told as long as the listener wants them. For any
   * thread.
   *
   * @return whether it is told of all changes from now on; otherwise soon, after {@link
   *     ChangeListener#missed}
   */
  public boolean listen(ChangeListener hears) {
    boolean already = closed == null;
    for (ChangeRing ring : partitions.rings()) {
      already &= ring.listen(hears);
    }
    listeners.add(hears);
    if (!already) {
      signal.run();
    }
    return already;
  }

  private boolean isListenedTo() {
    return listeners.stream().anyMatch(ChangeListener::isWanted);
  }

  private void refuse(Reply.Failure why) {
    Poll poll;
    while ((poll = arrived.poll()) != null) {
      poll.fail(why);
    }
  }

  /** Returns whether the next turn is the last one. */
  boolean isClosed() {
    return closed != null;
  }

  /**
   * Answers all waiting polls with what there is: watchers poll again, and may no longer be allowed
   * to.
   */
  public void release() {
    releases = true;
    signal.run();
  }

  /**
   * Takes another policy. If homes were added there are keys that belong elsewhere from now on, and
   * the feed begins anew: whoever keeps answers drops them, and watchers go on from their
   * positions.
   */
  public void configure(KeyspacePolicy before, KeyspacePolicy now) {
    if (!now.hasHomesOf(before)) {
      renews = true;
      release();
    }
  }

  /** Answers all present and later polls with an error. */
  public void close(Reply.Failure why) {
    closed = why;
    signal.run();
  }

  // ---------------------------------------------------------------- turns

  /** Does all work that there is; returns whether there was any. */
  public boolean turn() {
    long now = nanoTime.getAsLong();
    boolean did = false;
    if (renews) {
      renews = false;
      releases = true;
      sweep(now); // they wait at positions of the former life
      partitions.renew();
    }
    Poll poll;
    while ((poll = arrived.poll()) != null) {
      partitions.watch();
      early.add(poll);
    }
    if (isListenedTo()) {
      partitions.asked(now, false);
      partitions.watch();
    }
    Reply.Failure why = closed;
    if (why != null) {
      for (Set<Poll> all : List.of(early, walkers, ofKeys)) {
        all.forEach(p -> p.fail(why));
        all.clear();
      }
      watchers = 0;
      refuse(why);
      List<ChangeListener> hear = List.copyOf(listeners);
      listeners.clear();
      hear.forEach(ChangeListener::missed);
      return false;
    }
    for (Poll p : take(early)) {
      did = true;
      serve(p, now, true);
    }
    for (ChangeRing ring : partitions.rings()) {
      ring.takeDue().forEach(Runnable::run);
      for (Poll p : take(due)) {
        if (ofKeys.remove(p)) {
          did = true;
          serve(p, now, true);
        }
      }
    }
    boolean moved = false;
    for (ChangeRing ring : partitions.rings()) {
      moved |= ring.takeMoved();
    }
    if (moved) {
      did = true;
      for (Poll p : take(walkers)) {
        p.waitsNoMore();
        serve(p, now, true);
      }
    }
    sweep(now);
    watchers = early.size() + walkers.size() + ofKeys.size();
    return did;
  }

  private static List<Poll> take(Collection<Poll> from) {
    List<Poll> all = List.copyOf(from);
    from.clear();
    return all;
  }

  /** Answers a poll, or lets it wait; returns whether it was answered. */
  private boolean serve(Poll poll, long now, boolean mayWait) {
    try {
      while (true) {
        if (poll.look(now)) {
          told.incrementAndGet();
          poll.answer();
          return true;
        }
        if (poll.isToWalk()) {
          walk(poll);
          return true;
        }
        if (!mayWait || poll.isDue(now)) {
          poll.answer();
          return true;
        }
        if (!poll.hasBegun()) {
          early.add(poll);
          return false;
        }
        if (poll.waits()) {
          (poll.isOfOneKey() ? ofKeys : walkers).add(poll);
          return false;
        }
      }
    } catch (RuntimeException e) { // the other polls must still be answered
      failed(poll, e);
      return true;
    }
  }

  private void failed(Poll poll, RuntimeException e) {
    if (e instanceof OsierException told) {
      if (told.code() == ErrorCode.WATCHER_TOO_SLOW || told.code() == ErrorCode.HISTORY_TOO_SHORT) {
        cutOff.incrementAndGet();
      }
      poll.fail(told);
    } else {
      LOG.error("a watcher cannot be told of changes", e);
      poll.fail(new OsierException(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
    }
  }

  private void walk(Poll poll) {
    try {
      readers.execute(
          () -> {
            try {
              poll.walk();
              poll.answer();
            } catch (RuntimeException e) {
              failed(poll, e);
            }
          });
    } catch (RejectedExecutionException e) {
      poll.fail(new OsierException(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    }
  }

  // ---------------------------------------------------------------- what time brings

  private void sweep(long now) {
    boolean all = releases;
    if (!all && now - sweptNanos < SWEEP_NANOS) {
      return;
    }
    releases = false;
    sweptNanos = now;
    for (Set<Poll> some : List.of(early, walkers, ofKeys)) {
      for (Iterator<Poll> it = some.iterator(); it.hasNext(); ) {
        Poll poll = it.next();
        if (all || poll.isDue(now)) {
          it.remove();
          if (some != early) {
            poll.waitsNoMore();
          }
          serve(poll, now, false);
        }
      }
    }
    partitions.sweepKeys(now);
    if (walkers.isEmpty() && early.isEmpty()) {
      partitions.endPrefixes(now);
    }
    boolean idle = early.isEmpty() && walkers.isEmpty() && ofKeys.isEmpty() && arrived.isEmpty();
    if (idle && !isListenedTo()) {
      partitions.end(now);
    }
  }

  /**
   * Returns whether {@link #turn} must be called from time to time, as polls wait or changes are
   * kept.
   */
  public boolean isInUse() {
    return watchers > 0 || isListenedTo() || !arrived.isEmpty() || partitions.isAnyOn();
  }

  // ---------------------------------------------------------------- figures

  /** Returns the metrics of the feed. */
  public Snapshot.Watching figures() {
    return new Snapshot.Watching(watchers, told.get(), cutOff.get(), partitions.keptBytes());
  }
}
