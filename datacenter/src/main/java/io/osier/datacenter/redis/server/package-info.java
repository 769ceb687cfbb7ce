/**
 * Connections that speak the Redis protocol: how a connection's bytes become requests in their
 * order, and which commands are answered without asking a partition. What a command on data asks
 * for is decided in {@code redis.command}.
 */
@NullMarked
package io.osier.datacenter.redis.server;

import org.jspecify.annotations.NullMarked;
