package io.osier.datacenter.access;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Slows down who guesses passwords: after a few bad ones the user they were for, and the address
 * they came from, must wait, for longer each time. That alone would let anybody lock others out, by
 * guessing in their names or from behind their router; so where a user has logged in from an
 * address before, that pair is judged by itself alone.
 *
 * <p>Each table has a fixed number of places and forgets what has not been touched for longest. Not
 * thread-safe.
 */
public final class LoginThrottle {
  /** So many bad passwords cost nothing: people mistype. */
  static final int FREE = 5;

  static final long PAUSE_NANOS_MIN = 1_000_000_000L;

  static final long PAUSE_NANOS_MAX = 60_000_000_000L;

  /** After so long without a bad password all is forgotten. */
  static final long FORGET_NANOS = 600_000_000_000L;

  /** Places of each table. */
  static final int PLACES = 10_000;

  /** Longest name that is kept, in characters: users have no longer ones. */
  private static final int NAME_MAX = 64;

  private record Pair(String user, String address) {}

  private static final class Failures {
    int count;
    long untilNanos;
    long lastNanos;
  }

  /** A map that forgets what was not touched for longest. */
  private static final class Table<K> extends LinkedHashMap<K, Failures> {
    private static final long serialVersionUID = 1L;
    private final int places;

    Table(int places) {
      super(16, 0.75f, true);
      this.places = places;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, Failures> eldest) {
      return size() > places;
    }
  }

  private final Table<String> users;
  private final Table<String> addresses;
  private final Table<Pair> known;

  public LoginThrottle() {
    this(PLACES);
  }

  LoginThrottle(int places) {
    this.users = new Table<>(places);
    this.addresses = new Table<>(places);
    this.known = new Table<>(places);
  }

  /**
   * How long a user must wait before the next try from an address, in nanoseconds; 0 if not at all.
   *
   * @param nowNanos the time, by the monotonic clock
   */
  public long pauseNanos(String user, String address, long nowNanos) {
    String name = cut(user);
    Failures pair = known.get(new Pair(name, address));
    if (pair != null) {
      return left(pair, nowNanos);
    }
    return Math.max(left(users.get(name), nowNanos), left(addresses.get(address), nowNanos));
  }

  private static long left(@Nullable Failures of, long nowNanos) {
    return of == null || of.count == 0 ? 0 : Math.max(0, of.untilNanos - nowNanos);
  }

  /** A password was wrong, or the user does not exist. */
  public void failed(String user, String address, long nowNanos) {
    String name = cut(user);
    Failures pair = known.get(new Pair(name, address));
    if (pair != null) {
      failed(pair, nowNanos);
      return;
    }
    failed(users.computeIfAbsent(name, n -> new Failures()), nowNanos);
    failed(addresses.computeIfAbsent(address, a -> new Failures()), nowNanos);
  }

  private static void failed(Failures of, long nowNanos) {
    if (of.count > 0 && nowNanos - of.lastNanos > FORGET_NANOS) {
      of.count = 0;
    }
    of.count++;
    of.lastNanos = nowNanos;
    int beyond = of.count - FREE;
    of.untilNanos =
        beyond < 0
            ? nowNanos
            : nowNanos + Math.min(PAUSE_NANOS_MAX, PAUSE_NANOS_MIN << Math.min(beyond, 20));
  }

  public void succeeded(String user, String address) {
    known.put(new Pair(cut(user), address), new Failures());
  }

  private static String cut(String name) {
    return name.length() > NAME_MAX ? name.substring(0, NAME_MAX) : name;
  }

  /** How many entries there are in all tables. */
  int size() {
    return users.size() + addresses.size() + known.size();
  }
}
