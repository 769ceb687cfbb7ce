/**
 * Applications: {@code SimApp} is a client of production, over bytes ({@code AppWay}, {@code
 * AppPort}), without them ({@code SimWay}) or within a datacenter's process ({@code SimInside}).
 * What becomes of its requests is shown to a {@code SimWitness}. {@code SimUsers} says who may log
 * in, and {@code SimStranger} is one who may not.
 */
@NullMarked
package io.osier.bench.sim.app;

import org.jspecify.annotations.NullMarked;
