package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.store.StoredKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the datacenters that copy objects of this one the changes of these objects: each change at
 * once, and of an object that changes all the time its state, as often as {@link Held#holdMillis}
 * allows. Thread-safe; foreign code is called without a lock.
 */
public final class Followers {
  private static final Logger LOG = LoggerFactory.getLogger(Followers.class);

  /** Changes within this time are told together. */
  private static final long TOGETHER_MILLIS = 2;

  /** The first pause after a failed answer; it doubles up to {@link #AGAIN_MAX_MILLIS}. */
  private static final long AGAIN_MILLIS = 10;

  private static final long AGAIN_MAX_MILLIS = 1_000;

  /** A subscription without a question for this long ends. */
  private static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A keyspace that is held here. */
  public interface Held {
    /** Returns how long changes may be held back, in milliseconds. */
    long holdMillis();

    /** Returns how its keys are divided. */
    Partitioning partitioning();

    /** See {@link io.osier.datacenter.feed.KeyspaceFeed#listen}. */
    boolean listen(ChangeListener listener);

    /** Passes, later, the vector of all updates that a partition has; null if it cannot tell. */
    void through(int partition, Consumer<@Nullable VersionVector> told);

    /**
     * Returns the objects of a key; may wait for the disk.
     *
     * @throws OsierException if it cannot be read
     */
    StoredKey read(Key key);
  }

  /** What this class needs of its datacenter. Thread-safe. */
  public interface Around {
    /** Returns a keyspace that is held here and whose objects may be followed. */
    Optional<Held> heldHere(String keyspace);

    void later(Runnable task, long millis);

    /** Runs a task that may wait for the disk. */
    void beside(Runnable task);
  }

  /** Sends an answer to a question. */
  @FunctionalInterface
  public interface Answers {
    /** Sends it; null refuses the question. */
    void send(@Nullable Consumer<WireOutput> content);
  }

  private record Name(ReplicaId peer, long subscription) {}

  private record Waiting(long dueNanos, Answers answers) {}

  private final Around around;
  private final LongSupplier nanoTime;
  private final ByteBudget bytes;
  private final FollowerCounts counts = new FollowerCounts();
  private final Map<Name, Follower> followers = new ConcurrentHashMap<>();
  private final Map<String, FollowedKeys> listeners = new ConcurrentHashMap<>();

  /**
   * Makes it, without followers.
   *
   * @param bytes the budget of the keys that others follow
   * @param nanoTime a monotonic clock
   */
  public Followers(Around around, ByteBudget bytes, LongSupplier nanoTime) {
    this.around = around;
    this.bytes = bytes;
    this.nanoTime = nanoTime;
  }

  public Snapshot.Followed figures() {
    long now = nanoTime.getAsLong();
    long untold = followers.values().stream().mapToLong(f -> f.untoldNanos(now)).max().orElse(0);
    return counts.figures(TimeUnit.NANOSECONDS.toMillis(untold));
  }

  /** Returns whether objects of a type, whose readings depend on the datacenter, are refused. */
  static boolean isRefused(CrdtType type) {
    return type == CrdtType.BOUNDED_COUNTER;
  }

  /** Answers a question of a datacenter, now or later; see {@link FollowCodec#readAsk}. */
  public void asked(ReplicaId peer, WireInput rest, Answers answers) {
    FollowCodec.Ask ask;
    try {
      ask = FollowCodec.readAsk(rest);
    } catch (MalformedException e) {
      LOG.debug("{} sent a request that cannot be decoded: {}", peer, e.reason());
      answers.send(null);
      return;
    }
    Held held = around.heldHere(ask.keyspace()).orElse(null);
    if (held == null || ask.partition() >= held.partitioning().count()) {
      answers.send(null);
      return;
    }
    FollowedKeys listener = listeners.computeIfAbsent(ask.keyspace(), name -> new FollowedKeys());
    Name name = new Name(peer, ask.subscription());
    if (ask.step() == 1 && bytes.tryTake(FollowerKeys.KEY_BYTES)) {
      Follower begun = new Follower(name, ask.keyspace(), ask.partition(), held, listener);
      Follower former = followers.put(name, begun);
      if (former != null) {
        former.end(); // it begins anew
      }
    }
    Follower follower = followers.get(name);
    if (follower == null) {
      answers.send(null); // there is no room, or the subscription has ended
    } else {
      follower.asked(ask, answers);
    }
  }

  /** Ends the subscriptions of a datacenter whose connection was lost. */
  public void down(String dc) {
    followers.values().stream().filter(f -> f.name.peer.dc().equals(dc)).forEach(Follower::end);
  }

  private final class Follower implements FollowedKeys.Hearer {
    private final Name name;
    private final String keyspace;
    private final int partition;
    private final Held held;
    private final FollowedKeys listener;

    // Guarded by this object's lock.
    private final FollowerKeys keys;
    private final List<Waiting> waiting = new ArrayList<>();

    /** Whether to answer the next question at once, even without a change. */
    private boolean urgent;

    /** Whether an answer is being made. */
    private boolean telling;

    /**
     * The number of answers so far: questions may come in another order than they were asked in.
     */
    private long tellings;

    /** Whether a turn is planned that tells changes. */
    private boolean planned;

    /** Whether a turn is planned for the time at which the oldest question must be answered. */
    private boolean duePlanned;

    /** The pause since the last answer could not be made, in milliseconds; 0 if it could. */
    private long pauseMillis;

    private boolean ended;
    private long toldNanos;
    private long askedNanos;

    Follower(Name name, String keyspace, int partition, Held held, FollowedKeys listener) {
      this.name = name;
      this.keyspace = keyspace;
      this.partition = partition;
      this.held = held;
      this.listener = listener;
      this.keys = new FollowerKeys(bytes, counts, listener, this);
      this.toldNanos = nanoTime.getAsLong() - TimeUnit.MILLISECONDS.toNanos(held.holdMillis());
    }

    void asked(FollowCodec.Ask ask, Answers answers) {
      int waitMillis = Math.min(ask.waitMillis(), Subscription.WAIT_MILLIS);
      boolean ends;
      synchronized (this) {
        long now = nanoTime.getAsLong();
        askedNanos = now;
        ends = ended || waiting.size() >= 8 * Subscription.WINDOW || keys.areTooMany();
        ends |= !ask.add().stream().allMatch(a -> held.partitioning().of(a.key()) == partition);
        if (!ends) {
          ask.remove().forEach(keys::remove);
          ask.add().forEach(added -> keys.add(added, now));
        }
        urgent |= waitMillis == 0 || keys.areRefused();
        int wait = waitMillis == 0 ? Subscription.WAIT_MILLIS : waitMillis;
        waiting.add(new Waiting(now + TimeUnit.MILLISECONDS.toNanos(wait), answers));
      }
      if (ends) {
        end();
        return;
      }
      plan();
      if (waitMillis == 0) {
        around.later(this::turn, 0); // even if a later turn is planned
      }
    }

    @Override
    public void changed(Key key) {
      synchronized (this) {
        if (!keys.changed(key, nanoTime.getAsLong())) {
          return;
        }
      }
      plan();
    }

    /**
     * Plans the next turn: when changes may be told, or when the oldest question must be answered.
     */
    private void plan() {
      long millis;
      boolean waits;
      synchronized (this) {
        boolean atOnce = urgent || isDue();
        waits = !atOnce && !keys.haveChanged();
        if (telling || ended || waiting.isEmpty() || (waits ? duePlanned : planned)) {
          return;
        }
        duePlanned |= waits;
        planned |= !waits;
        long dueNanos = waiting.getFirst().dueNanos - nanoTime.getAsLong();
        long due = TimeUnit.NANOSECONDS.toMillis(dueNanos + 999_999); // not before
        long held = waits ? due : Math.min(due, Math.max(TOGETHER_MILLIS, heldMillis()));
        millis = Math.max(pauseMillis, atOnce ? 0 : held);
      }
      around.later(
          () -> {
            synchronized (this) {
              duePlanned &= !waits;
              planned &= waits;
            }
            turn();
          },
          millis);
    }

    private long heldMillis() {
      long since = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - toldNanos);
      return held.holdMillis() - since;
    }

    private void turn() {
      boolean now;
      synchronized (this) {
        now = urgent || isDue() || (keys.haveChanged() && heldMillis() <= 0);
        now &= !ended && !telling && !waiting.isEmpty();
        telling |= now;
        urgent &= !now; // later questions may want more than this answer tells
      }
      if (!now) {
        plan();
      } else if (held.listen(listener)) {
        held.through(partition, through -> around.beside(() -> tell(through)));
      } else {
        again(); // changes may be missed until it listens, so the vector could not be told
      }
    }

    private boolean isDue() {
      return !waiting.isEmpty() && nanoTime.getAsLong() - waiting.getFirst().dueNanos >= 0;
    }

    /** Ends the subscription if no question has come for {@link #LEASE_NANOS}. */
    private void lapse() {
      boolean lapsed;
      synchronized (this) {
        lapsed = waiting.isEmpty() && nanoTime.getAsLong() - askedNanos >= LEASE_NANOS;
      }
      if (lapsed) {
        end();
      }
    }

    /** Plans another attempt after an answer could not be made. */
    private void again() {
      boolean hasKeys;
      synchronized (this) {
        hasKeys = !keys.isEmpty(); // without keys the listener may never be wanted
        telling = false;
        urgent = true;
        pauseMillis = Math.clamp(2 * pauseMillis, AGAIN_MILLIS, AGAIN_MAX_MILLIS);
      }
      if (hasKeys && isHeld()) {
        plan();
      } else {
        end();
      }
    }

    private boolean isHeld() {
      return around.heldHere(keyspace).filter(held::equals).isPresent();
    }

    /**
     * Answers a question with the changed objects. Their states contain all changes heard of so
     * far, and all updates up to the vector.
     */
    private void tell(@Nullable VersionVector through) {
      if (through == null) {
        again();
        return;
      }
      boolean told = false;
      try {
        Telling telling = begun(through);
        telling.takeAll(held::read);
        told = isHeld() && told(telling);
      } catch (OsierException e) {
        LOG.debug(
            "the changes of followed objects cannot be sent to {}: {}", name.peer, e.reason());
      } finally {
        if (!told) {
          end();
        }
      }
      plan();
    }

    private synchronized Telling begun(VersionVector through) {
      pauseMillis = 0;
      toldNanos = nanoTime.getAsLong();
      return keys.take(through);
    }

    /** Sends the answer; returns false if no question waits. */
    private boolean told(Telling telling) {
      Waiting to;
      boolean last;
      FollowCodec.Answer answer;
      synchronized (this) {
        this.telling = false;
        if (ended || waiting.isEmpty()) {
          return false;
        }
        to = waiting.removeFirst();
        last = waiting.isEmpty();
        answer = telling.answer(++tellings);
        urgent |= !telling.left().isEmpty();
        keys.takeBack(telling.left());
      }
      counts.told(answer);
      to.answers.send(out -> FollowCodec.write(out, answer));
      if (last) {
        around.later(this::lapse, TimeUnit.NANOSECONDS.toMillis(LEASE_NANOS));
      }
      return true;
    }

    synchronized long untoldNanos(long now) {
      return keys.untoldNanos(now);
    }

    /** Ends the subscription and refuses its waiting questions. */
    void end() {
      List<Waiting> left;
      synchronized (this) {
        bytes.give(ended ? 0 : FollowerKeys.KEY_BYTES);
        ended = true;
        keys.removeAll();
        left = List.copyOf(waiting);
        waiting.clear();
      }
      followers.remove(name, this);
      left.forEach(each -> each.answers.send(null));
    }
  }
}
