/**
 * What travels between the partitions of two datacenters: {@code Frame}s, the {@code Shipment}s in
 * them, and the bytes of both. Pure.
 */
package io.osier.propagation.wire;
