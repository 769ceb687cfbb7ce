package io.osier.adaptation;

/**
 * What the partition knows of itself when it decides.
 *
 * @param slaNanos δ
 * @param holdNanos how long an update may be held: δ − μ; 0 if there is no time
 * @param peers to how many datacenters updates are shipped
 */
public record Conditions(long slaNanos, long holdNanos, int peers) {}
