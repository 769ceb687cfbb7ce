package io.osier.datacenter.control.execution;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.agent.InspectedPartition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * A datacenter leaves the cluster, or the holders of a keyspace: it takes no updates any more,
 * learns what the others have, gives away the rights of its bounded counters, and ships everything.
 * In steps, by the control plane's thread; what takes long is done by another one meanwhile.
 */
public final class LeaveProcedure {
  private enum Stage {
    /** Others have not everything that was written here. */
    ENDING("what was written here has not come to all others"),
    /** They do not all know yet what this one has a part of. */
    WAITING("the others have not all noted that they give it nothing more"),
    /** Others may have given it something, or made counters that it has a part of. */
    COMPARING("what the others had when they heard of it has not all come"),
    /** Rights are given to the heir. */
    GIVING("the rights of its bounded counters are given to another datacenter"),
    /** The others have not everything yet; who has lost its memory meanwhile, not even its own. */
    SHIPPING("what was written here has not come to all others"),
    /** Nothing is left to do. */
    DONE("");

    private final String words;

    Stage(String words) {
      this.words = words;
    }
  }

  private final ReplicaId self;
  private final GivenUp given;
  private Stage stage = Stage.ENDING;

  /** What was here of everybody, by partition, when all was given. */
  private final Map<InspectedPartition, VersionVector> here = new HashMap<>();

  private final RepeatedWalk giving;

  /**
   * Begins: no updates are taken from now on.
   *
   * @param failures counts walks that failed
   */
  public LeaveProcedure(ReplicaId self, GivenUp given, LongAdder failures) {
    this.self = self;
    this.given = given;
    this.giving =
        new RepeatedWalk("giving away rights", failures, System::currentTimeMillis, new Random());
    partitions().forEach(p -> p.submit(new Input.Retire()));
  }

  /** It does not leave: updates are taken again. */
  public void stay() {
    partitions().forEach(p -> p.submit(new Input.Stay()));
  }

  /** What keeps it from going, in words; empty if nothing does. */
  Optional<String> progress() {
    return stage == Stage.DONE ? Optional.empty() : Optional.of(stage.words);
  }

  /** Goes on until nothing is written here any more, and the others have what was. */
  public boolean isQuiet() {
    if (stage == Stage.ENDING && isAllShipped()) {
      stage = Stage.WAITING;
    }
    return stage != Stage.ENDING;
  }

  private boolean isAllShipped() {
    partitions().forEach(p -> p.submit(new Input.Flush()));
    return partitions().allMatch(p -> !p.isHolding() && PeerCoverage.isShipped(p));
  }

  /**
   * Goes on, once the others have done what is theirs.
   *
   * @param heirs of them the first that holds a keyspace gets the rights there
   * @return whether nothing is left to do
   */
  public boolean step(List<String> heirs) {
    switch (stage) {
      case ENDING, WAITING -> {
        given.compareAnew();
        stage = Stage.COMPARING;
      }
      case COMPARING -> {
        if (given.isComplete()) {
          stage = Stage.GIVING;
        }
      }
      case GIVING -> give(heirs);
      case SHIPPING -> {
        if (isAllShipped() && partitions().allMatch(this::isEverywhere)) {
          stage = Stage.DONE;
        }
      }
      case DONE -> {}
    }
    return stage == Stage.DONE;
  }

  private boolean isEverywhere(InspectedPartition partition) {
    if (!here.containsKey(partition)) {
      PeerCoverage.here(partition).ifPresent(all -> here.put(partition, all));
    }
    VersionVector all = here.get(partition);
    return all != null && PeerCoverage.isEverywhere(partition, all);
  }

  private Stream<InspectedPartition> partitions() {
    return given.keyspaces().stream().flatMap(k -> k.partitions().stream());
  }

  /** Until a walk through all objects finds nothing to give. */
  private void give(List<String> heirs) {
    OptionalInt found = giving.step(() -> given.begin(() -> walk(heirs)));
    if (found.isPresent() && found.getAsInt() == 0) {
      stage = Stage.SHIPPING;
      partitions().forEach(p -> PeerCoverage.here(p).ifPresent(all -> here.put(p, all)));
    }
  }

  private int walk(List<String> heirs) {
    int found = 0;
    for (GivenUp.Keyspace keyspace : given.keyspaces()) {
      Optional<String> heir =
          heirs.stream().filter(dc -> given.mayInherit(keyspace.policy(), dc)).findFirst();
      for (InspectedPartition partition : keyspace.partitions()) {
        found +=
            heir.isEmpty()
                ? 0
                : RightsWalk.walk(
                    partition, self.dc(), counters -> new Input.GiveAway(counters, heir.get()));
      }
    }
    return found;
  }
}
