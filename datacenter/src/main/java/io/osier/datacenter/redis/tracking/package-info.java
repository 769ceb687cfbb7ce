/**
 * Which keys clients may have in caches of their own, and who is told that they have changed. Knows
 * neither sockets nor commands.
 */
@NullMarked
package io.osier.datacenter.redis.tracking;

import org.jspecify.annotations.NullMarked;
