package io.osier.datacenter.control.execution;

import io.osier.core.ReplicaId;
import io.osier.datacenter.control.ControlHost;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.PartitionRunner;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes over a removed datacenter's rights of bounded counters, in the keyspaces where this one is
 * the heir; again after each start, since the removed one may have got a share of wider bounds
 * meanwhile. Works in steps, in the control plane's thread; another thread walks through all
 * objects.
 */
final class RightsTakeover {
  private static final Logger LOG = LoggerFactory.getLogger(RightsTakeover.class);

  private final ReplicaId self;
  private final Keyspaces keyspaces;
  private final ControlHost.Estate estate;
  private final RepeatedWalk walk;
  private OptionalInt taken = OptionalInt.empty();
  private boolean done;

  RightsTakeover(
      ReplicaId self, Keyspaces keyspaces, ControlHost.Estate estate, LongAdder failures) {
    this.self = self;
    this.keyspaces = keyspaces;
    this.estate = estate;
    this.walk =
        new RepeatedWalk(
            "taking over the rights of '" + estate.from() + "'",
            failures,
            System::currentTimeMillis,
            new Random());
  }

  /** Returns the rights that are taken over. */
  ControlHost.Estate estate() {
    return estate;
  }

  /** There may be more rights to take over than at the last look. */
  void lookAgain() {
    done = false;
    taken = OptionalInt.empty();
    walk.beginAnew();
  }

  /**
   * Takes the next steps. Returns whether all rights are taken over, and the others have the
   * changes.
   */
  boolean step() {
    if (done) {
      return true;
    }
    if (taken.isEmpty()) {
      taken = walk.step(this::begin);
    }
    if (taken.isPresent()) {
      partitions().forEach(p -> p.submit(new Input.Flush()));
      done = partitions().allMatch(PeerCoverage::isShipped);
      if (done) {
        LOG.info(
            "the rights of '{}' in {} bounded counters are taken over",
            estate.from(),
            taken.getAsInt());
      }
    }
    return done;
  }

  private CompletableFuture<Integer> begin() {
    List<PartitionRunner> of = partitions().toList();
    of.forEach(p -> p.submit(new Input.Inherit(estate.from(), List.of())));
    return RightsWalk.begin(
        () ->
            of.stream()
                .mapToInt(
                    p ->
                        RightsWalk.walk(
                            p,
                            estate.from(),
                            counters -> new Input.Inherit(estate.from(), counters)))
                .sum());
  }

  private Stream<PartitionRunner> partitions() {
    return keyspaces.shown().values().stream()
        .filter(k -> k.policy().heldBy(estate.from()) && isHeir(k))
        .flatMap(k -> k.partitions().stream());
  }

  /**
   * Returns whether this datacenter is the first heir of those that have held the keyspace since
   * its creation. Only these count, because datacenters do not all hear of an added holder at the
   * same moment, and must agree on the heir. A former holder takes nothing more, and the others
   * have what it took. One that was removed and added again is no heir: another one may have become
   * the heir meanwhile.
   */
  private boolean isHeir(KeyspaceShard shard) {
    return estate.heirs().stream()
        .filter(dc -> keyspaces.holders().hasAlwaysHeld(shard.policy(), dc))
        .findFirst()
        .filter(self.dc()::equals)
        .isPresent();
  }
}
