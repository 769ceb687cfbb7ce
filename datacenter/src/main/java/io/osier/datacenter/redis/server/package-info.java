/**
 * Connections that speak the Redis protocol: how what a connection sends becomes requests in its
 * order, and what is answered without asking a partition. What a command of data asks for is
 * decided in {@code redis.command}.
 */
@NullMarked
package io.osier.datacenter.redis.server;

import org.jspecify.annotations.NullMarked;
