package io.osier.datacenter.forward;

import io.osier.core.VersionVector;

/** What {@link Forwarder} knows of what its clients were shown, for who shows them more. */
public interface ShownHere {
  /** What was shown of a partition, all connections together. */
  VersionVector shown(String keyspace, int partition);

  /** This may be shown of a partition by somebody else here. */
  void shows(String keyspace, int partition, VersionVector seen);

  /** A connection was shown here what a datacenter has told. */
  void shows(Object lane, String keyspace, String dc);

  /** The way to a datacenter and back, in milliseconds; 0 if it was not measured. */
  double roundTripMillis(String dc);
}
