package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Utf8;
import io.osier.core.scram.ScramCredential;
import io.osier.core.time.TimeLimit;
import io.osier.core.trace.TraceSample;
import io.osier.proxy.cache.CacheSettings;
import io.osier.proxy.cache.FollowedPrefix;
import io.osier.proxy.client.ClientSettings;
import io.osier.proxy.client.ListenerGuard;
import io.osier.proxy.client.TracedAnswers;
import io.osier.proxy.connection.Dialling;
import io.osier.proxy.connection.ScramLogin;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** Collects the settings of a client, and says what is wrong with them. Not thread-safe. */
abstract class ClientBuilder {
  /** Longest name of a client, in bytes of UTF-8. */
  private static final int NAME_BYTES_MAX = 128;

  /** Most prefixes whose changes are followed. */
  private static final int FOLLOWED_MAX = 64;

  private final Map<String, String> endpoints = new LinkedHashMap<>();
  private Optional<String> preferred = Optional.empty();
  private String name = "java";
  private Duration timeout = Duration.ofSeconds(10);
  private Duration connectTimeout = Duration.ofSeconds(3);
  private Duration pingInterval = Duration.ofMillis(500);
  private int inFlightMax = 10_000;
  private Duration cacheStaleness = Duration.ZERO;
  private long cacheEntriesMax = 10_000;
  private final List<FollowedPrefix> cacheFollows = new ArrayList<>();
  private ClientMetrics metrics = ClientMetrics.NONE;
  private Optional<TlsOptions> tls = Optional.empty();
  private Optional<ScramLogin.User> user = Optional.empty();
  private TracedAnswers traces = TracedAnswers.NONE;
  private Values values = Values.plain();
  private ClientObserver observer = ClientObserver.NONE;

  abstract OsierClient.Builder self();

  /** Adds a datacenter: its name and the address for clients, as host:port. At least one. */
  public OsierClient.Builder endpoint(String dc, String address) {
    endpoints.put(
        ReplicaId.checkDcName(present(dc, "an endpoint's name")),
        present(address, "an endpoint's address"));
    return self();
  }

  /** Prefers a datacenter whenever it is up, however far it is. Otherwise the nearest is used. */
  public OsierClient.Builder prefer(String dc) {
    preferred = Optional.of(present(dc, "the name of the preferred datacenter"));
    return self();
  }

  /** Who connects, for the servers' logs; at most 128 bytes. */
  public OsierClient.Builder name(String clientName) {
    int bytes = Utf8.length(present(clientName, "the client's name"));
    if (bytes > NAME_BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "a client's name has at most " + NAME_BYTES_MAX + " bytes, not " + bytes);
    }
    name = clientName;
    return self();
  }

  /** How long a call may take, tries elsewhere included; 10 s unless set. */
  public OsierClient.Builder timeout(Duration atMost) {
    timeout = TimeLimit.positive("timeout", atMost);
    return self();
  }

  /** How long the opening of a connection may take; 3 s unless set. */
  public OsierClient.Builder connectTimeout(Duration atMost) {
    connectTimeout = TimeLimit.positive("connectTimeout", atMost);
    return self();
  }

  /** How often the way to each datacenter is measured; 500 ms unless set. */
  public OsierClient.Builder pingInterval(Duration pause) {
    pingInterval = TimeLimit.positive("pingInterval", pause);
    return self();
  }

  /**
   * Most calls under way. Further ones, asynchronous ones too, let their thread wait until one has
   * ended, within their own time limit; after that they fail with OVERLOADED, and nothing was sent.
   * Callbacks and threads of Netty's event loops, an application's too, never wait: their calls go
   * beyond the limit, and fail at once with OVERLOADED when there are twice as many. 10,000 unless
   * set.
   */
  public OsierClient.Builder inFlightMax(int most) {
    if (most < 1) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "inFlightMax must be at least 1, not " + most);
    }
    inFlightMax = most;
    return self();
  }

  /**
   * Lets each session answer reads of {@code session} keyspaces from what it read before, if that
   * is not older than the bound. Off unless set. A session sees its own writes all the same, and no
   * object goes back in time. In {@code causal} keyspaces nothing is kept: objects would contradict
   * each other.
   *
   * @param staleness how old an answer may be
   * @param entriesMax of how many keys each session keeps answers
   */
  public OsierClient.Builder cache(Duration staleness, long entriesMax) {
    if (entriesMax < 1) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "entriesMax must be at least 1, not " + entriesMax);
    }
    cacheStaleness = TimeLimit.positive("staleness", staleness);
    cacheEntriesMax = entriesMax;
    return self();
  }

  /**
   * Lets sessions keep answers about some keys of a {@code session} keyspace until the key changes,
   * instead of for the staleness of {@link #cache}, which must be set, too. The client follows the
   * changes of these keys ({@link Keyspace#watchPrefix}), with one watcher for all its sessions,
   * from the first read on until it is closed; a change drops the key's answers.
   *
   * <p>An answer is kept so only if the datacenter that gave it is the one whose changes are
   * followed, the nearest, and they were when it was asked. It is then as old as the news of a
   * change takes, usually some milliseconds, and never older than four {@linkplain #pingInterval
   * ping intervals}, at least 1 s and at most 20 s: if no news comes for so long, and at once where
   * the connection is lost, such answers serve no longer than others. They serve again when nothing
   * was missed meanwhile; otherwise, as at another datacenter, it begins anew. What has a time to
   * live is not kept for more than 15/16 of it; how long it lives is asked for with a second
   * request, when the answer is used again for the first time.
   *
   * <p>It needs the right to read all of these keys. A user who has it not has a plain cache, and a
   * line in the log. Each call adds a prefix, 64 at most, of which each takes 256 KiB; of several
   * that fit a key the longest counts. Worth it for what is read far more often than the keys with
   * the prefix change: each change of theirs comes to this client.
   *
   * @param prefix the keys that begin with this text, in UTF-8; all keys if it is empty
   * @param atMost how long an answer is kept at most, above the staleness
   */
  public OsierClient.Builder cacheFollowing(String keyspace, String prefix, Duration atMost) {
    present(keyspace, "a keyspace's name");
    present(prefix, "a prefix");
    FollowedPrefix follows =
        FollowedPrefix.of(keyspace, prefix, TimeLimit.positive("atMost", atMost));
    cacheFollows.removeIf(follows::isOfTheSameKeys);
    cacheFollows.add(follows);
    if (cacheFollows.size() > FOLLOWED_MAX) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "at most " + FOLLOWED_MAX + " prefixes are followed");
    }
    return self();
  }

  /** Who hears of the client's figures. */
  public OsierClient.Builder metrics(ClientMetrics listener) {
    metrics = ListenerGuard.metrics(present(listener, "a listener"));
    return self();
  }

  /** Who hears of each call as a whole: where timers and spans are made. */
  public OsierClient.Builder observer(ClientObserver ofCalls) {
    observer = ListenerGuard.observer(present(ofCalls, "an observer"));
    return self();
  }

  /** Speaks TLS with all datacenters. Off unless set. */
  public OsierClient.Builder tls(TlsOptions options) {
    tls = Optional.of(present(options, "options"));
    return self();
  }

  /**
   * Logs in to all datacenters as a user. Without, the client is the datacenters' default user, if
   * they have one, or the one whom its certificate names.
   *
   * @param password asked for before each connection is made, by a thread that may wait; the array
   *     that it gives is overwritten
   */
  public OsierClient.Builder user(String userName, Supplier<char[]> password) {
    user = Optional.of(new ScramLogin.User(userName, password));
    return self();
  }

  /**
   * As the other one, with a password that does not change.
   *
   * @param password copied; the caller may overwrite it afterwards
   * @throws OsierException INVALID_ARGUMENT if it cannot be a password
   */
  public OsierClient.Builder user(String userName, char[] password) {
    char[] copy = ScramCredential.checked(present(password, "a password")).clone();
    return user(userName, copy::clone);
  }

  /**
   * Who hears of the updates that are followed by traces.
   *
   * @param sample the share of updates that is followed, as the datacenters have it in {@code
   *     osier.trace.sample}: from 0 to 1
   */
  public OsierClient.Builder traces(double sample, ClientTraces listener) {
    present(listener, "a listener");
    try {
      traces = new TracedAnswers(TraceSample.of(sample), listener);
    } catch (IllegalArgumentException e) {
      throw OsierException.of(ErrorCode.INVALID_ARGUMENT, String.valueOf(e.getMessage()));
    }
    return self();
  }

  /**
   * How typed handles ({@link ObjectSpace#register(String, Class)} and its like) keep objects;
   * {@link Values#plain} unless set.
   */
  public OsierClient.Builder values(Values known) {
    values = present(known, "values");
    return self();
  }

  /**
   * What was collected, if a client can be made of it.
   *
   * @throws OsierException INVALID_ARGUMENT, or CONFIGURATION if a file cannot be used
   */
  final ClientSettings checked() {
    if (endpoints.isEmpty()) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT, "a client needs at least one endpoint(name, host:port)");
    }
    if (preferred.isPresent() && !endpoints.containsKey(preferred.get())) {
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          String.format(
              Locale.ROOT,
              "prefer(\"%s\") names no endpoint; the endpoints are %s",
              preferred.get(),
              endpoints.keySet()));
    }
    for (FollowedPrefix follows : cacheFollows) {
      if (cacheStaleness.isZero() || follows.atMost().compareTo(cacheStaleness) <= 0) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            "cacheFollowing of "
                + follows
                + " needs cache(staleness, entriesMax), with a staleness below its "
                + follows.atMost());
      }
    }
    return settings();
  }

  final ClientSettings settings() {
    return new ClientSettings(
        Collections.unmodifiableMap(new LinkedHashMap<>(endpoints)),
        preferred,
        timeout,
        inFlightMax,
        new Dialling(name, connectTimeout, pingInterval, tls.map(TlsOptions::context), user),
        new CacheSettings(cacheStaleness, cacheEntriesMax, List.copyOf(cacheFollows)),
        new ClientSettings.Listeners(metrics, traces, observer),
        values);
  }
}
