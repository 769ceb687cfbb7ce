/**
 * What leaves: what this datacenter has committed ({@code OutboundLog}), each peer's place in it
 * ({@code PeerStream}), and when operations and rounds leave ({@code Outbound}). It does not know
 * what arrives nor how frames are carried.
 */
@NullMarked
package io.osier.propagation.send;

import org.jspecify.annotations.NullMarked;
