package io.osier.proxy.connection;

import io.osier.core.tls.TlsContext;
import java.time.Duration;
import java.util.Optional;

/**
 * Settings for opening and keeping connections.
 *
 * @param name the client's name, for the servers' logs
 * @param connectTimeout how long the opening of a connection may take
 * @param pingInterval the pause between two measurements of a round trip
 * @param tls empty to use no TLS
 * @param user the user to log in as; empty for no login
 */
public record Dialling(
    String name,
    Duration connectTimeout,
    Duration pingInterval,
    Optional<TlsContext> tls,
    Optional<ScramLogin.User> user) {}
