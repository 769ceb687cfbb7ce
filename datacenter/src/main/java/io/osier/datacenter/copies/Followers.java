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
 * Tells those who have copies of what is held here what becomes of it: each change at once, and of
 * an object that changes all the time its state, as often as {@link Held#holdMillis} allows.
 * Thread-safe; others are called without a lock.
 */
public final class Followers {
  private static final Logger LOG = LoggerFactory.getLogger(Followers.class);

  /** Changes that come within this time are told together. */
  private static final long TOGETHER_MILLIS = 2;

  /** When it is tried again to tell what could not be told; each time later, up to the second. */
  private static final long AGAIN_MILLIS = 10;

  private static final long AGAIN_MAX_MILLIS = 1_000;

  /** Who has not asked for so long follows nothing any more. */
  private static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A keyspace that is held here. */
  public interface Held {
    /** So long changes may be held back. */
    long holdMillis();

    /** Which partitions it has. */
    Partitioning partitioning();

    /** See {@link io.osier.datacenter.feed.KeyspaceFeed#listen}. */
    boolean listen(ChangeListener listener);

    /** Takes, later, what a partition has of all replicas; null if it cannot tell. */
    void through(int partition, Consumer<@Nullable VersionVector> told);

    /**
     * What a key holds, by one who may wait for a disk.
     *
     * @throws OsierException if it cannot be read
     */
    StoredKey read(Key key);
  }

  /** What this has of the world. */
  public interface Around {
    /** A keyspace whose objects may be followed. */
    Optional<Held> heldHere(String keyspace);

    void later(Runnable task, long millis);

    /** Does something that may wait for a disk. */
    void beside(Runnable task);
  }

  /** Takes an answer; null if there is none. */
  @FunctionalInterface
  public interface Answers {
    /** Takes it. */
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
   * Nobody follows anything.
   *
   * @param bytes for the keys that others follow
   * @param nanoTime a monotonic clock
   */
  public Followers(Around around, ByteBudget bytes, LongSupplier nanoTime) {
    this.around = around;
    this.bytes = bytes;
    this.nanoTime = nanoTime;
  }

  public FollowerCounts.Figures figures() {
    long now = nanoTime.getAsLong();
    long untold = followers.values().stream().mapToLong(f -> f.untoldNanos(now)).max().orElse(0);
    return counts.figures(TimeUnit.NANOSECONDS.toMillis(untold));
  }

  /** Whether objects of a type are not followed: what is read of them depends on where. */
  static boolean isRefused(CrdtType type) {
    return type == CrdtType.BOUNDED_COUNTER;
  }

  /**
   * Whether this is of who follows objects, and no request.
   *
   * @param rest of what was asked, behind what each question begins with
   */
  public static boolean isAsk(WireInput rest) {
    return FollowCodec.isOfThese(rest);
  }

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
      answers.send(null); // there is no room, or it was forgotten with all that it followed
    } else {
      follower.asked(ask, answers);
    }
  }

  /** A datacenter has gone: what it followed is followed no more. */
  public void down(String dc) {
    followers.values().stream().filter(f -> f.name.peer.dc().equals(dc)).forEach(Follower::end);
  }

  private final class Follower implements FollowedKeys.Hearer {
    private final Name name;
    private final String keyspace;
    private final int partition;
    private final Held held;
    private final FollowedKeys listener;

    // Under this one's lock.
    private final FollowerKeys keys;
    private final List<Waiting> waiting = new ArrayList<>();

    /** Somebody waits for how far this datacenter is. */
    private boolean urgent;

    private boolean telling;

    /** Answers that tell something: questions may come in another order than they were asked in. */
    private long tellings;

    private boolean planned;

    /** Whether it has its turn when one is due that waited for nothing, or before. */
    private boolean duePlanned;

    /** So long it waits, as it could not tell; 0 if it could. */
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
        around.later(this::turn, 0); // though the turn that is planned comes later
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

    /** Sees to it that this has its turn when there is something to tell, or somebody is due. */
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
        urgent &= !now; // who asks from now on may want more than is told
      }
      if (!now) {
        plan();
      } else if (held.listen(listener)) {
        held.through(partition, through -> around.beside(() -> tell(through)));
      } else {
        again(); // it hears of no changes yet, so nothing can be said of what did not change
      }
    }

    private boolean isDue() {
      return !waiting.isEmpty() && nanoTime.getAsLong() - waiting.getFirst().dueNanos >= 0;
    }

    /** Who does not ask any more follows nothing. */
    private void lapse() {
      boolean lapsed;
      synchronized (this) {
        lapsed = waiting.isEmpty() && nanoTime.getAsLong() - askedNanos >= LEASE_NANOS;
      }
      if (lapsed) {
        end();
      }
    }

    private void again() {
      boolean hasKeys;
      synchronized (this) {
        hasKeys = !keys.isEmpty(); // else nobody may ever want to hear of changes
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

    /** Tells what has changed. What was heard of until now is in it, and all of this at least. */
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

    /** Answers with it; false if nobody asks. */
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

    /** Tells nothing more. */
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
