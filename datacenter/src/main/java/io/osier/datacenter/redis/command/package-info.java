/**
 * Translates each command of Redis into requests to partitions, and their replies into Redis'
 * words. Pure: it must not know connections, threads or clocks.
 */
@NullMarked
package io.osier.datacenter.redis.command;

import org.jspecify.annotations.NullMarked;
