/**
 * Publish and subscribe: who hears which channel, what waits for whom, and the note by which a
 * message comes to other datacenters. It knows no connections: a subscriber is woken, and polls.
 */
@NullMarked
package io.osier.datacenter.redis.pubsub;

import org.jspecify.annotations.NullMarked;
