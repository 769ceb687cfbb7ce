/**
 * What each command of Redis asks of partitions, and how their answers read in Redis' words. Pure:
 * it must not know connections, threads or clocks.
 */
@NullMarked
package io.osier.datacenter.redis.command;

import org.jspecify.annotations.NullMarked;
