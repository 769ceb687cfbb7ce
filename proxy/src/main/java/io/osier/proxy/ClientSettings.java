package io.osier.proxy;

import io.osier.core.tls.TlsContext;
import io.osier.proxy.values.Values;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What {@link OsierClient.Builder} collected, checked. */
record ClientSettings(
    Map<String, String> endpoints,
    Optional<String> preferred,
    String name,
    Duration timeout,
    Duration connectTimeout,
    Duration pingInterval,
    int inFlightMax,
    Duration cacheStaleness,
    long cacheEntriesMax,
    List<FollowedKeys.Prefix> cacheFollows,
    ClientMetrics metrics,
    Optional<TlsContext> tls,
    Optional<Login.User> user,
    TracedAnswers traces,
    Values values,
    ClientObserver observer) {}
