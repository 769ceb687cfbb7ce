/**
 * The commands of keys, strings, hashes and sets. Pure: they must not know connections, threads or
 * clocks.
 */
@NullMarked
package io.osier.datacenter.redis.command.data;

import org.jspecify.annotations.NullMarked;
