package io.osier.propagation;

/** Tells how many bytes a shipment takes in a frame of this datacenter. */
@FunctionalInterface
public interface ShipmentSizer {
  /** The exact number of bytes. */
  int sizeOf(Shipment shipment);
}
