/**
 * What leaves: what this datacenter has committed ({@code OutboundLog}), each peer's place in it
 * ({@code PeerStream}), and when operations and rounds leave ({@code Outbound}).
 */
@NullMarked
package io.osier.propagation.out;

import org.jspecify.annotations.NullMarked;
