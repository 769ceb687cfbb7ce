/**
 * Decides what is sent and when: {@code OutboundLog} keeps what this datacenter has committed,
 * {@code PeerStream} has each peer's place in it, {@code SendWindow} the frames in flight to that
 * peer; {@code Outbound} ships operations and rounds, {@code RoundTimer} says when rounds leave. It
 * must not know what is received nor how frames are carried.
 */
@NullMarked
package io.osier.propagation.send;

import org.jspecify.annotations.NullMarked;
