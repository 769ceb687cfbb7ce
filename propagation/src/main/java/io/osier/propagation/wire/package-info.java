/**
 * Defines what travels between the partitions of two datacenters: {@code Frame}s, the {@code
 * Shipment}s in them, and the bytes of both. Pure.
 */
@NullMarked
package io.osier.propagation.wire;

import org.jspecify.annotations.NullMarked;
