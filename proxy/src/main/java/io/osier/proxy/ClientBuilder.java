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

/** Collects the settings of a client, and checks them. Not thread-safe. */
abstract class ClientBuilder {
  /** Longest name of a client, in bytes of UTF-8. */
  private static final int NAME_BYTES_MAX = 128;

  /** Most prefixes whose changes a client follows. */
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

  /**
   * Adds a datacenter by its name and its address for clients, as host:port. At least one is
   * needed.
   */
  public OsierClient.Builder endpoint(String dc, String address) {
    endpoints.put(
        ReplicaId.checkDcName(present(dc, "an endpoint's name")),
        present(address, "an endpoint's address"));
    return self();
  }

  /**
   * Prefers a datacenter whenever it is up, however distant. Without this the nearest one is used.
   */
  public OsierClient.Builder prefer(String dc) {
    preferred = Optional.of(present(dc, "the name of the preferred datacenter"));
    return self();
  }

  /** Sets the client's name for the servers' logs; at most 128 bytes. */
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

  /** Sets how long a call may take, with its tries at other datacenters; 10 s unless set. */
  public OsierClient.Builder timeout(Duration atMost) {
    timeout = TimeLimit.positive("timeout", atMost);
    return self();
  }

  /** Sets how long the opening of a connection may take; 3 s unless set. */
  public OsierClient.Builder connectTimeout(Duration atMost) {
    connectTimeout = TimeLimit.positive("connectTimeout", atMost);
    return self();
  }

  /**
   * Sets the pause between two measurements of the round trip to each datacenter; 500 ms unless
   * set.
   */
  public OsierClient.Builder pingInterval(Duration pause) {
    pingInterval = TimeLimit.positive("pingInterval", pause);
    return self();
  }

  /**
   * Limits the calls under way; 10,000 unless set. A further call, also an asynchronous one, blocks
   * its thread until an earlier call has ended, within its own time limit; then it fails with
   * OVERLOADED, and nothing was sent. Callbacks and threads of Netty event loops, the application's
   * as well, never wait: their calls may exceed the limit, and fail at once with OVERLOADED at
   * twice the limit.
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
   * Lets each session answer reads of {@code session} keyspaces from answers that it keeps, while
   * these are not older than the bound. Off unless set. A session still sees its own writes, and no
   * object goes back in time. Reads of {@code causal} keyspaces are never answered so, since the
   * objects would not be of one snapshot.
   *
   * @param staleness the greatest age of a kept answer
   * @param entriesMax the number of keys whose answers each session keeps, at most
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
   * instead of for the staleness of {@link #cache}, which must also be set. The client follows the
   * changes of these keys ({@link Keyspace#watchPrefix}), with one watcher for all its sessions,
   * from the first read until the client is closed; a change drops the key's answers.
   *
   * <p>An answer is kept in this way only if it came from the datacenter whose changes are followed
   * (the nearest one), and if they were already followed when the read was sent. It then is out of
   * date for as long as the news of a change travels, usually some milliseconds. If no news comes
   * for four {@linkplain #pingInterval ping intervals} (at least 1 s, at most 20 s), or the
   * connection is lost, these answers only serve for the staleness of {@link #cache}. They serve
   * again if the watcher has missed nothing meanwhile; otherwise, and at another datacenter,
   * following begins anew. An answer about a key with a time to live is kept for at most 15/16 of
   * that time, which the client asks for with a second request when the answer is first used again.
   *
   * <p>The user needs the right to read all of these keys; without it the cache works as if this
   * was not set, and the client logs a line. Each call adds a prefix, up to 64; each takes 256 KiB
   * of memory, and the longest one that fits a key applies to it. Following is worth its cost for
   * keys that are read far more often than keys with the prefix change, since every such change is
   * sent to this client.
   *
   * @param prefix the beginning of the keys, in UTF-8; empty for all keys
   * @param atMost how long an answer is kept at most; longer than the staleness
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

  /** Sets the listener that is told the client's metrics. */
  public OsierClient.Builder metrics(ClientMetrics listener) {
    metrics = ListenerGuard.metrics(present(listener, "a listener"));
    return self();
  }

  /** Sets the observer that is told of each call as a whole, for timers and spans. */
  public OsierClient.Builder observer(ClientObserver ofCalls) {
    observer = ListenerGuard.observer(present(ofCalls, "an observer"));
    return self();
  }

  /** Uses TLS for all connections. Off unless set. */
  public OsierClient.Builder tls(TlsOptions options) {
    tls = Optional.of(present(options, "options"));
    return self();
  }

  /**
   * Logs in to all datacenters as a user. Without this the client acts as the user whom its
   * certificate names, or as the datacenters' default user if there is one.
   *
   * @param password called before each connection is made, by a thread that may wait; the client
   *     overwrites the array after use
   */
  public OsierClient.Builder user(String userName, Supplier<char[]> password) {
    user = Optional.of(new ScramLogin.User(userName, password));
    return self();
  }

  /**
   * As {@link #user(String, Supplier)}, with a password that does not change.
   *
   * @param password copied; the caller may overwrite it afterwards
   * @throws OsierException INVALID_ARGUMENT if the text cannot be a password
   */
  public OsierClient.Builder user(String userName, char[] password) {
    char[] copy = ScramCredential.checked(present(password, "a password")).clone();
    return user(userName, copy::clone);
  }

  /**
   * Sets the listener that is told of the client's traced updates.
   *
   * @param sample the share of updates that is traced, from 0 to 1: the same as the datacenters'
   *     {@code osier.trace.sample}
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
   * Sets how typed handles ({@link ObjectSpace#register(String, Class)} and the like) encode
   * objects; {@link Values#plain} unless set.
   */
  public OsierClient.Builder values(Values known) {
    values = present(known, "values");
    return self();
  }

  /**
   * Returns the collected settings, after checking that a client can be built from them.
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
            "cacheFollowing of %s needs cache(staleness, entriesMax), with a staleness below its %s"
                .formatted(follows, follows.atMost()));
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
