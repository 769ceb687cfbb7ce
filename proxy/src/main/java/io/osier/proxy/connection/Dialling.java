package io.osier.proxy.connection;

import io.osier.core.tls.TlsContext;
import java.time.Duration;
import java.util.Optional;

/**
 * How connections are made and kept.
 *
 * @param name who connects, for the servers' logs
 * @param connectTimeout how long the opening of one may take
 * @param pingInterval how often the way to each datacenter is measured
 * @param tls empty to speak without TLS
 * @param user empty to log in as nobody
 */
public record Dialling(
    String name,
    Duration connectTimeout,
    Duration pingInterval,
    Optional<TlsContext> tls,
    Optional<ScramLogin.User> user) {}
