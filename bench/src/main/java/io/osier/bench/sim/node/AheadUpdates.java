package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNullElse;

import io.osier.bench.sim.app.SimWitness;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.Dot;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks that a partition gets each update that was acknowledged in front of it, once. Used by the
 * simulation's thread.
 */
final class AheadUpdates {
  private final ReplicaId self;
  private final Unit unit;

  /** By object, the witnesses of the updates that the partition has not got yet. */
  private final Map<ObjectId, List<SimWitness>> acknowledged = new HashMap<>();

  AheadUpdates(ReplicaId self, Unit unit) {
    this.self = self;
    this.unit = unit;
  }

  /** An update is acknowledged. */
  void add(ObjectId object, SimWitness witness) {
    acknowledged.computeIfAbsent(object, o -> new ArrayList<>()).add(witness);
  }

  /** The partition has absorbed updates: it must have got all that were acknowledged, once. */
  void absorbed(Input.Absorbed input, List<Effects.Recorded> records) {
    for (Input.Absorbed.Update update : input.updates()) {
      ObjectId object = update.object();
      List<SimWitness> of = requireNonNullElse(acknowledged.remove(object), List.of());
      Optional<Dot> made =
          records.stream()
              .filter(r -> r instanceof Effects.Applied a && a.update().object().equals(object))
              .map(r -> new Dot(self, ((Effects.Applied) r).update().last()))
              .findFirst();
      if (made.isEmpty() || update.count() != of.size()) {
        throw new Violation(
            unit + "/" + object,
            "%s has acknowledged %d updates of %s, and its partition gets %d as %s",
            self + "/" + unit,
            of.size(),
            object,
            update.count(),
            made);
      }
      of.forEach(w -> w.absorbed(made.get()));
    }
  }
}
