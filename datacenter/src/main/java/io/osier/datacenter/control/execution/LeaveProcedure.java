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
 * The procedure by which a datacenter leaves the cluster, or the holders of a keyspace: it refuses
 * updates, gets the data of the others, gives away the rights of its bounded counters, and ships
 * everything. It works in steps, in the control plane's thread; another thread does the long walks.
 */
public final class LeaveProcedure {
  private enum Stage {
    /** Others do not have all updates of this datacenter yet. */
    ENDING("some datacenters do not have all updates of this one yet"),
    /** Others have not all agreed to give it no share of new counters. */
    WAITING("some datacenters have not confirmed yet that they give this one no more rights"),
    /** Others may have given it rights, or made counters of which it has a share. */
    COMPARING("some updates that the others had when the leave began have not arrived here yet"),
    /** It gives its rights to the heir. */
    GIVING("it is handing its rights in bounded counters over to another datacenter"),
    /**
     * Others do not have all updates yet; a peer that has lost its memory may lack even its own.
     */
    SHIPPING("some datacenters do not have all updates of this one yet"),
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

  /** The updates that each partition had, of all replicas, when all rights were given. */
  private final Map<InspectedPartition, VersionVector> here = new HashMap<>();

  private final RepeatedWalk giving;

  /**
   * Begins: updates are refused from now on.
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

  /** Ends the procedure: updates are taken again. */
  public void stay() {
    partitions().forEach(p -> p.submit(new Input.Stay()));
  }

  /** Returns, in words, what keeps the datacenter from leaving; empty if nothing does. */
  Optional<String> progress() {
    return stage == Stage.DONE ? Optional.empty() : Optional.of(stage.words);
  }

  /** Goes on until no update is in flight here, and the others have all of them. */
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
   * Goes on, once the others have taken their steps.
   *
   * @param heirs the first of these that holds a keyspace gets the rights there
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

  /** Gives rights until a walk through all objects finds none to give. */
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
