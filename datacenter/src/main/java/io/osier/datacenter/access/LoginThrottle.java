package io.osier.datacenter.access;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Slows down the guessing of passwords: after a few wrong ones, logins of the user, and logins from
 * the address, must wait, for longer each time. That alone would let an attacker lock others out,
 * by guessing for their names or from behind their router. So if a user has logged in from an
 * address before, failures of this pair are counted separately, and only these count for it.
 *
 * <p>Each table has a fixed number of entries and forgets the least recently used one. Not
 * thread-safe.
 */
public final class LoginThrottle {
  /** How many wrong passwords have no effect, as people mistype. */
  static final int FREE = 5;

  static final long PAUSE_NANOS_MIN = 1_000_000_000L;

  static final long PAUSE_NANOS_MAX = 60_000_000_000L;

  /** After so long without a wrong password earlier ones are forgotten. */
  static final long FORGET_NANOS = 600_000_000_000L;

  /** Most entries of each table. */
  static final int PLACES = 10_000;

  /** Longest name that is kept, in characters, which is the longest that a user can have. */
  private static final int NAME_MAX = 64;

  private record Pair(String user, String address) {}

  private static final class Failures {
    int count;
    long untilNanos;
    long lastNanos;
  }

  /** A map that forgets the least recently used entry. */
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
   * Returns how long a user must wait before the next login from an address, in nanoseconds; 0 if
   * not at all.
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

  /** Notes a login with a wrong password, or of a user that does not exist. */
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

  /** Returns the number of entries in all tables. */
  int size() {
    return users.size() + addresses.size() + known.size();
  }
}
