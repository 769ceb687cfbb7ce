package io.osier.datacenter.copies;

import io.osier.core.Key;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Tells those who have copies of what is held here what becomes of it: each change at once, and of
 * an object that changes all the time its state, as often as {@link Held#holdMillis} allows.
 * Thread-safe; others are called without a lock.
 */
public final class Followers {
  /** What a followed key takes of the heap besides the key. */
  private static final long KEY_BYTES = 300;

  /** Changes that come within this time are told together. */
  private static final long TOGETHER_MILLIS = 2;

  /** When it is tried again to tell what could not be told. */
  private static final long AGAIN_MILLIS = 10;

  /** Who has not asked for so long follows nothing any more. */
  private static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** A keyspace that is held here. */
  public interface Held {
    /** So long changes may be held back. */
    long holdMillis();

    /** How many it has. */
    int partitions();

    /** See {@link io.osier.datacenter.feed.KeyspaceFeed#listen}. */
    boolean listen(ChangeListener listener);

    /** Takes, later, what a partition has of all replicas; null if it cannot tell. */
    void through(int partition, Consumer<@Nullable VersionVector> told);

    /** What a key holds; empty if that cannot be told at once, and must be read. */
    Optional<StoredKey> stored(Key key);

    /**
     * What a key holds, by one who may wait for a disk.
     *
     * @throws io.osier.core.OsierException if it cannot be read
     */
    StoredKey read(Key key);
  }

  /** What this has of the world. */
  public interface Around {
    /** A keyspace whose objects may be followed. */
    Optional<Held> heldHere(String keyspace);

    /** Does something later. */
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

  private record Waiting(FollowCodec.Ask ask, long dueNanos, Answers answers) {}

  private final Around around;
  private final LongSupplier nanoTime;
  private final ByteBudget bytes;
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
    return rest.remaining() > 0 && (rest.getBuffer()[rest.position()] & 0xff) == FollowCodec.KIND;
  }

  /** One asks. */
  public void asked(ReplicaId peer, WireInput rest, Answers answers) {
    FollowCodec.Ask ask;
    try {
      ask = FollowCodec.readAsk(rest);
    } catch (MalformedException e) {
      answers.send(null);
      return;
    }
    Held held = around.heldHere(ask.keyspace()).orElse(null);
    if (held == null || ask.partition() >= held.partitions()) {
      answers.send(null);
      return;
    }
    FollowedKeys listener = listeners.computeIfAbsent(ask.keyspace(), name -> new FollowedKeys());
    Name name = new Name(peer, ask.subscription());
    Follower follower = followers.get(name);
    if (ask.step() == 1) {
      if (follower != null) {
        follower.end(); // of the peer's process before this one
      }
      follower = new Follower(name, ask.keyspace(), ask.partition(), held, listener);
      followers.put(name, follower);
    }
    if (follower == null) {
      answers.send(null); // it was forgotten, with all that it followed
    } else {
      follower.asked(ask, answers);
    }
  }

  /** A datacenter has gone: what it followed is followed no more. */
  public void down(String dc) {
    followers.values().stream().filter(f -> f.name.peer.dc().equals(dc)).forEach(Follower::end);
  }

  /** One subscription. */
  private final class Follower implements FollowedKeys.Hearer {
    private final Name name;
    private final String keyspace;
    private final int partition;
    private final Held held;
    private final FollowedKeys listener;

    // Under this one's lock.
    private final Map<Long, Key> keys = new HashMap<>();
    private final Map<Key, Long> numbers = new HashMap<>();
    private final Map<Long, Key> dirty = new HashMap<>();
    private final List<Waiting> waiting = new ArrayList<>();

    /** Somebody waits for how far this datacenter is. */
    private boolean urgent;

    private boolean telling;

    /** Answers that tell something: questions may come in another order than they were asked in. */
    private long tellings;

    private boolean planned;
    private boolean ended;
    private long toldNanos;
    private long askedNanos;

    Follower(Name name, String keyspace, int partition, Held held, FollowedKeys listener) {
      this.name = name;
      this.keyspace = keyspace;
      this.partition = partition;
      this.held = held;
      this.listener = listener;
      this.toldNanos = nanoTime.getAsLong() - TimeUnit.MILLISECONDS.toNanos(held.holdMillis());
    }

    void asked(FollowCodec.Ask ask, Answers answers) {
      boolean hasRoom = true;
      synchronized (this) {
        long now = nanoTime.getAsLong();
        askedNanos = now;
        ask.remove().forEach(this::remove);
        for (FollowCodec.Added added : ask.add()) {
          hasRoom = hasRoom && !ended && bytes.tryTake(KEY_BYTES + added.key().heapBytes());
          if (hasRoom) {
            keys.put(added.number(), added.key());
            numbers.put(added.key(), added.number());
            dirty.put(added.number(), added.key());
            listener.add(added.key(), this);
          }
        }
        urgent |= ask.waitMillis() == 0;
        long wait = ask.waitMillis() == 0 ? Subscription.WAIT_MILLIS : ask.waitMillis();
        waiting.add(new Waiting(ask, now + TimeUnit.MILLISECONDS.toNanos(wait), answers));
        hasRoom &= !ended && waiting.size() <= 8 * Subscription.WINDOW;
      }
      if (!hasRoom) {
        end();
        return;
      }
      plan();
      around.later(this::turn, ask.waitMillis());
    }

    private void remove(long number) {
      Key key = keys.remove(number);
      if (key != null) {
        dirty.remove(number);
        numbers.remove(key, number);
        listener.remove(key, this);
        bytes.give(KEY_BYTES + key.heapBytes());
      }
    }

    @Override
    public void changed(Key key) {
      synchronized (this) {
        Long number = numbers.get(key);
        if (number == null) {
          return;
        }
        dirty.put(number, key);
      }
      plan();
    }

    /** Sees to it that this has its turn when there is something to tell. */
    private void plan() {
      long millis;
      synchronized (this) {
        if (planned || telling || ended || waiting.isEmpty() || (dirty.isEmpty() && !urgent)) {
          return;
        }
        planned = true;
        millis = urgent ? 0 : Math.max(TOGETHER_MILLIS, heldMillis());
      }
      around.later(
          () -> {
            synchronized (this) {
              planned = false;
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
        now = !ended && !telling && (isDue() || urgent || (!dirty.isEmpty() && heldMillis() <= 0));
        now &= !waiting.isEmpty();
        telling |= now;
      }
      if (!now) {
        plan();
      } else if (held.listen(listener)) {
        held.through(partition, this::tell);
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
      synchronized (this) {
        telling = false;
      }
      if (around.heldHere(keyspace).filter(held::equals).isEmpty()) {
        end();
      } else {
        around.later(this::turn, AGAIN_MILLIS);
      }
    }

    /** Tells what has changed. What was heard of until now is in it, and all of this at least. */
    private void tell(@Nullable VersionVector through) {
      if (through == null) {
        again();
        return;
      }
      Telling telling = new Telling(through);
      synchronized (this) {
        if (ended || waiting.isEmpty()) {
          this.telling = false;
          return;
        }
        telling.left.putAll(dirty);
        dirty.clear();
        urgent = false;
        toldNanos = nanoTime.getAsLong();
      }
      telling.takeAll(key -> held.stored(key).orElse(null));
      if (telling.isOver()) {
        tell(telling);
      } else {
        around.beside(() -> readAndTell(telling));
      }
    }

    /** What is not at hand, or not durable at the moment, is read, one after the other. */
    private void readAndTell(Telling telling) {
      boolean read = false;
      try {
        telling.takeAll(held::read);
        read = true;
      } finally {
        if (!read) {
          end();
        }
      }
      tell(telling);
    }

    private void tell(Telling telling) {
      Waiting to;
      boolean last;
      FollowCodec.Answer answer;
      synchronized (this) {
        this.telling = false;
        if (ended || waiting.isEmpty()) {
          return;
        }
        to = waiting.removeFirst();
        last = waiting.isEmpty();
        answer = telling.answer(++tellings);
        telling.left.keySet().retainAll(keys.keySet());
        dirty.putAll(telling.left);
        urgent |= !telling.left.isEmpty();
      }
      to.answers.send(out -> FollowCodec.write(out, answer));
      if (last) {
        around.later(this::lapse, TimeUnit.NANOSECONDS.toMillis(LEASE_NANOS));
      }
      plan();
    }

    /** Tells nothing more. */
    void end() {
      List<Waiting> left;
      synchronized (this) {
        ended = true;
        List.copyOf(keys.keySet()).forEach(this::remove);
        left = List.copyOf(waiting);
        waiting.clear();
      }
      followers.remove(name, this);
      left.forEach(each -> each.answers.send(null));
    }
  }
}
