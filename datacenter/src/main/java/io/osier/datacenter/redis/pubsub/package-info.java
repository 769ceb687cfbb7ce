/**
 * Publish and subscribe, and watched changes: who hears which channel, what waits for whom, and the
 * note that takes a message to other datacenters. It must not know connections: a subscriber is
 * woken, and polls.
 */
@NullMarked
package io.osier.datacenter.redis.pubsub;

import org.jspecify.annotations.NullMarked;
