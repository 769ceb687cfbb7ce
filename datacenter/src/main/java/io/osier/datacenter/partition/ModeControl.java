package io.osier.datacenter.partition;

import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.crdt.Causal;
import io.osier.propagation.ObjectId;
import java.util.List;

/** Decides for each object whether its updates are held for a round. */
final class ModeControl {
  private final Propagation propagation;

  ModeControl(PartitionConfig config) {
    this.propagation = config.policy().propagation();
  }

  boolean holds(ObjectId object) {
    return propagation == Propagation.STATE;
  }

  void updated(ObjectId object, int opBytes, Causal after, long nowNanos) {}

  void flushed(ObjectId object, int updates, int bytes, long nowNanos) {}

  List<ObjectId> decide(long nowNanos, io.osier.propagation.Propagation streams) {
    return List.of();
  }

  long nextDecisionNanos() {
    return Long.MAX_VALUE;
  }

  int stateObjects() {
    return 0;
  }

  long switches() {
    return 0;
  }

  List<PartitionReport.Hot> hot(int limit) {
    return List.of();
  }
}
