/**
 * What one connection between datacenters needs whoever is at its end: its messages and their
 * numbers, its liveness, its buffers and their limits. It decides nothing about peers.
 */
@NullMarked
package io.osier.propagation.net.link;

import org.jspecify.annotations.NullMarked;
