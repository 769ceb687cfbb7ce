package io.osier.datacenter.partition;

import io.osier.core.KeyspacePolicy;
import io.osier.core.KeyspacePolicy.Propagation;
import java.time.Duration;

/** Clusters of three. */
abstract class PartitionFixture {
  static KeyspacePolicy policy(Propagation propagation, int slaMillis) {
    return KeyspacePolicy.session("k", Duration.ofMillis(slaMillis)).with(propagation);
  }

  static Cluster three(Propagation propagation, int slaMillis) {
    return new Cluster(policy(propagation, slaMillis), "ap", "eu", "us");
  }
}
