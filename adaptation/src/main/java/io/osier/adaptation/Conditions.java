package io.osier.adaptation;

/**
 * What the partition knows of itself when it decides.
 *
 * @param slaNanos δ
 * @param holdNanos how long an update may be held: δ − μ; 0 if there is no time
 * @param peers to how many datacenters updates are shipped
 * @param shipmentCost what the handling of one shipment costs for each receiver, at both ends, in
 *     the bytes that are worth as much; at least 0
 */
public record Conditions(long slaNanos, long holdNanos, int peers, double shipmentCost) {}
