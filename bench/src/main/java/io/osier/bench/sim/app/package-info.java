/**
 * Applications: {@code SimApp} is a client of production, over what is between it and the
 * datacenters ({@code SimWay}) or within a datacenter's process ({@code SimInside}). What becomes
 * of its requests is shown to a {@code SimWitness}.
 */
@NullMarked
package io.osier.bench.sim.app;

import org.jspecify.annotations.NullMarked;
