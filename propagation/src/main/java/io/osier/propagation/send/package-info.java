/**
 * What leaves: what this datacenter has committed ({@code OutboundLog}), each peer's place in it
 * ({@code PeerStream}), what is under way to it ({@code SendWindow}), and when operations and
 * rounds leave ({@code Outbound}, {@code RoundTimer}). It does not know what arrives nor how frames
 * are carried.
 */
@NullMarked
package io.osier.propagation.send;

import org.jspecify.annotations.NullMarked;
