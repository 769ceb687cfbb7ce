/**
 * What lies below the datacenters: virtual time ({@code Scheduler}), the links and TCP over them
 * ({@code SimNetwork}, {@code SimLink}, {@code SimConnection}, {@code SimSockets}), disks, the
 * {@code Trace} of what happened. Decides what arrives or is durable, and when; knows neither what
 * the bytes say nor which datacenter, partition or client they are for.
 */
@NullMarked
package io.osier.bench.sim.world;

import org.jspecify.annotations.NullMarked;
