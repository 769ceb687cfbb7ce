/**
 * The transport simulation: bytes, half frames, full buffers and logins, without partitions. {@code
 * TransportSimulation} is one run: either of applications that send requests to the ports of
 * datacenters ({@code Applications}, {@code AppWay}, {@code AppPort}), or of datacenters that send
 * each other frames ({@code Peers}, {@code PeerProcess}). Knows neither partitions nor sessions.
 */
@NullMarked
package io.osier.bench.sim.transport;

import org.jspecify.annotations.NullMarked;
