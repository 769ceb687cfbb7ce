/**
 * The transport simulation: bytes, half frames, full buffers and logins, without partitions. {@code
 * TransportSimulation} is one run, of applications at the ports of datacenters ({@code
 * Applications}, {@code AppWay}, {@code AppPort}, {@code AppConnection}) or of datacenters that
 * send each other frames ({@code Peers}, {@code PeerProcess}).
 */
@NullMarked
package io.osier.bench.sim.transport;

import org.jspecify.annotations.NullMarked;
