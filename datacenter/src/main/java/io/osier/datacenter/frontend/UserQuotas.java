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
 * What each user has of the port for clients at this moment, and refuses what is more than one may
 * have: so who floods it takes nothing from the others. Of a user nothing is kept without a
 * connection or a request that waits. Thread-safe.
 */
final class UserQuotas {
  private static final Logger LOG = LoggerFactory.getLogger(UserQuotas.class);

  /** A refusal is logged at most so often. */
  private static final Duration LOGGED = Duration.ofSeconds(10);

  /** So many users are shown, those with most under way. */
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
   * @param users those there are at present; cheap
   * @param requestBytes what all together may have; each user's are taken from it
   */
  UserQuotas(UserLimits limits, Supplier<Users> users, ByteBudget requestBytes) {
    this.limits = limits;
    this.users = users;
    this.requestBytes = requestBytes;
  }

  @SuppressWarnings("ReferenceEquality") // the one there is while nobody was ever named
  private long max(UserLimits.Limit limit) {
    return limit.isGiven() || users.get() != Users.OPEN ? limit.max() : Long.MAX_VALUE / 2;
  }

  /**
   * A user has one more connection, until {@link Quota#disconnect}.
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

  /** There are other users: limits that nobody has set begin to hold with the first. */
  void usersChanged() {
    byUser.values().forEach(q -> q.bytes.setMax(max(limits.bytes())));
  }

  final class Quota {
    private final String user;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicInteger requests = new AtomicInteger();
    private final ByteBudget bytes = new ByteBudget(max(limits.bytes()), requestBytes);

    Quota(String user) {
      this.user = user;
    }

    /** For the user's requests: bytes of all, and no more than one user may have. */
    ByteBudget bytes() {
      return bytes;
    }

    /** One more request is under way, until {@link #end}; false if it is one too many. */
    boolean tryBegin() {
      if (requests.incrementAndGet() > max(limits.requests())) {
        end();
        return false;
      }
      return true;
    }

    /** A request is answered, or was not taken. */
    void end() {
      if (requests.decrementAndGet() == 0) {
        forgetIfIdle();
      }
    }

    /** A connection is closed; requests of it may still be under way. */
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

    /** Says why {@link #tryBegin} was refused, and counts it. */
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

    /** Says that a request finds no room in what this user may have, and counts it. */
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

  /** By limit, how often something was refused because of it. */
  Map<String, Long> refused() {
    Map<String, Long> all = new TreeMap<>();
    all.put("connections", connectionsRefused.sum());
    all.put("requests", requestsRefused.sum());
    all.put("bytes", bytesRefused.sum());
    return all;
  }

  /** Those with most under way, first who has most bytes. */
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
