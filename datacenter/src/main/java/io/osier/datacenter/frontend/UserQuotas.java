package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.net.ByteBudget;
import io.osier.core.net.LogInterval;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.metrics.Snapshot;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the connections, unanswered requests and their bytes of each user, and refuses what
 * exceeds the limits, so that a user that floods the port takes nothing from the others. A user
 * without a connection and an unanswered request takes no memory. Thread-safe.
 */
final class UserQuotas {
  private static final Logger LOG = LoggerFactory.getLogger(UserQuotas.class);

  /** The least time between two log lines about refusals. */
  private static final Duration LOGGED = Duration.ofSeconds(10);

  /** The most users in the metrics: those with most bytes. */
  private static final int SHOWN = 20;

  private static final String AT = "osier.user-limits.";

  private final UserLimits limits;
  private final Supplier<Users> users;
  private final ByteBudget requestBytes;
  private final Map<String, Quota> byUser = new ConcurrentHashMap<>();
  private final LongAdder connectionsRefused = new LongAdder();
  private final LongAdder requestsRefused = new LongAdder();
  private final LongAdder bytesRefused = new LongAdder();
  private final LogInterval logged = new LogInterval(LOGGED);

  /**
   * @param users returns the present users; cheap
   * @param requestBytes the budget of all users' requests, from which each user's bytes are taken
   */
  UserQuotas(UserLimits limits, Supplier<Users> users, ByteBudget requestBytes) {
    this.limits = limits;
    this.users = users;
    this.requestBytes = requestBytes;
  }

  @SuppressWarnings("ReferenceEquality") // OPEN is one object
  private long max(UserLimits.Limit limit) {
    return limit.isGiven() || users.get() != Users.OPEN ? limit.max() : Long.MAX_VALUE / 2;
  }

  /**
   * Counts one more connection of a user, until {@link Quota#disconnect}.
   *
   * @throws OsierException OVERLOADED if it is one too many
   */
  Quota connect(String user) {
    Quota quota =
        byUser.compute(
            user,
            (name, there) -> {
              Quota of = there == null ? new Quota(name) : there;
              of.connections.incrementAndGet();
              return of;
            });
    long max = max(limits.connections());
    if (quota.connections.get() > max) {
      quota.disconnect();
      connectionsRefused.increment();
      throw new OsierException(
          ErrorCode.OVERLOADED,
          "user '"
              + user
              + "' has "
              + max
              + " connections, which is the limit: "
              + AT
              + "connections");
    }
    return quota;
  }

  /**
   * Adapts the limits to changed users: limits that are not configured hold once there are users.
   */
  void usersChanged() {
    byUser.values().forEach(q -> q.bytes.setMax(max(limits.bytes())));
  }

  /** What one user has. */
  final class Quota {
    private final String user;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final ByteBudget bytes = new ByteBudget(max(limits.bytes()), requestBytes);

    Quota(String user) {
      this.user = user;
    }

    /**
     * Returns the budget of the user's requests: a part of all users' budget, within the user's
     * limit.
     */
    ByteBudget bytes() {
      return bytes;
    }

    /** Counts one more request until {@link #end}; returns false if it is one too many. */
    boolean tryBegin() {
      if (requests.incrementAndGet() > max(limits.requests())) {
        end();
        return false;
      }
      return true;
    }

    /** Ends a request that was answered or refused. */
    void end() {
      if (requests.decrementAndGet() == 0) {
        forgetIfIdle();
      }
    }

    /** Ends a connection, which may still have unanswered requests. */
    void disconnect() {
      if (connections.decrementAndGet() == 0) {
        forgetIfIdle();
      }
    }

    private void forgetIfIdle() {
      if (connections.get() == 0 && requests.get() == 0) {
        byUser.computeIfPresent(
            user,
            (name, q) -> q == this && connections.get() == 0 && requests.get() == 0 ? null : q);
      }
    }

    /** Counts and logs a refusal by {@link #tryBegin}, and returns the reason in words. */
    String tooManyRequests() {
      requestsRefused.increment();
      return logged(
          "user '"
              + user
              + "' has "
              + max(limits.requests())
              + " requests under way, which is the limit: "
              + AT
              + "requests");
    }

    /**
     * Counts and logs a request that finds no room in the user's budget, and returns the reason in
     * words.
     */
    String noRoom(long needed) {
      bytesRefused.increment();
      return logged(
          "a request that takes "
              + needed
              + " bytes finds no room; all of user '"
              + user
              + "' that are under way may have "
              + bytes.max()
              + " bytes: "
              + AT
              + "bytes");
    }
  }

  private String logged(String why) {
    if (logged.tryPass()) {
      LOG.warn("requests are refused: {}", why);
    }
    return why;
  }

  /** Returns how often each limit has refused something, by its name. */
  Map<String, Long> refused() {
    Map<String, Long> all = new TreeMap<>();
    all.put("connections", connectionsRefused.sum());
    all.put("requests", requestsRefused.sum());
    all.put("bytes", bytesRefused.sum());
    return all;
  }

  /** Returns the load of the users with most bytes, the largest first. */
  List<Snapshot.UserLoad> loads() {
    return byUser.values().stream()
        .map(
            q ->
                new Snapshot.UserLoad(
                    q.user, q.connections.get(), q.requests.get(), q.bytes.taken()))
        .sorted(
            Comparator.comparingLong(Snapshot.UserLoad::bytes)
                .thenComparingInt(Snapshot.UserLoad::connections)
                .reversed()
                .thenComparing(Snapshot.UserLoad::user))
        .limit(SHOWN)
        .toList();
  }
}
