/**
 * Provides the parts of one connection between datacenters, for both of its ends: its messages and
 * their numbers, its liveness, its buffers and their limits. It must not decide anything about
 * peers.
 */
@NullMarked
package io.osier.propagation.net.link;

import org.jspecify.annotations.NullMarked;
