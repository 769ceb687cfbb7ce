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
 * Takes over the rights that a datacenter that was given up has of bounded counters, in the
 * keyspaces where they fall to this one; again after each start, since it may have got a part of
 * wider bounds while nobody looked. In steps, by the control plane's thread; the walk through all
 * objects is done by another one meanwhile.
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

  /** What is taken over. */
  ControlHost.Estate estate() {
    return estate;
  }

  /** More may fall to this one than when it looked. */
  void lookAgain() {
    done = false;
    taken = OptionalInt.empty();
    walk.beginAnew();
  }

  /** Goes on. Returns whether all is taken over, and the others have it. */
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
   * Whether this one is the first heir, of those that have held the keyspace since it began: not
   * all hear at one moment of a holder that is added, and must name the same heir. Who is one no
   * more takes nothing, and the others have what it took. Who was removed and added again is none:
   * another one may have become the heir meanwhile.
   */
  private boolean isHeir(KeyspaceShard shard) {
    return estate.heirs().stream()
        .filter(dc -> keyspaces.holders().hasAlwaysHeld(shard.policy(), dc))
        .findFirst()
        .filter(self.dc()::equals)
        .isPresent();
  }
}
