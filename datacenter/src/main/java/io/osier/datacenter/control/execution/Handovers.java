package io.osier.datacenter.control.execution;

import io.osier.core.ReplicaId;
import io.osier.datacenter.control.ControlHost.Estate;
import io.osier.datacenter.shard.Keyspaces;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this datacenter hands over to others while it leaves the cluster or the holders of
 * keyspaces, and what it takes over of those that were given up. In steps, by the control plane's
 * thread.
 */
final class Handovers {
  private static final Logger LOG = LoggerFactory.getLogger(Handovers.class);

  private final ReplicaId self;
  private final Keyspaces keyspaces;
  private Optional<LeaveProcedure> leaving = Optional.empty();

  /** By keyspace that is given up here. */
  private final Map<String, LeaveProcedure> givenUp = new TreeMap<>();

  /** By name of a datacenter that was given up. */
  private final Map<String, RightsTakeover> inheriting = new TreeMap<>();

  private final LongAdder failedWalks = new LongAdder();

  Handovers(ReplicaId self, Keyspaces keyspaces) {
    this.self = self;
    this.keyspaces = keyspaces;
  }

  /** How often a walk through all objects has failed. For any thread. */
  long failedWalks() {
    return failedWalks.sum();
  }

  // ---------------------------------------------------------------- the cluster

  boolean leaves() {
    return leaving.isPresent();
  }

  /** What keeps it from having left, in words. */
  List<String> progress() {
    return leaving.flatMap(LeaveProcedure::progress).stream().toList();
  }

  /** Goes on to leave: the first of these that can gets its rights. Returns whether it is done. */
  boolean leave(List<String> heirs) {
    LOG.debug("of {} the first that can gets the rights of this datacenter", heirs);
    return leaving().step(heirs);
  }

  /** Goes on to leave, until the others have what was written here. */
  boolean isQuiet() {
    return leaving().isQuiet();
  }

  private LeaveProcedure leaving() {
    if (leaving.isEmpty()) {
      LOG.info("this datacenter leaves");
      leaving =
          Optional.of(
              new LeaveProcedure(
                  self, new GivenUp.Running(keyspaces, keyspaces::held), failedWalks));
    }
    return leaving.get();
  }

  /** This datacenter does not leave after all. */
  void stay() {
    LOG.info("this datacenter stays");
    leaving.ifPresent(LeaveProcedure::stay);
    leaving = Optional.empty();
    givenUp.clear(); // these begin anew: their partitions were told to stay, too
  }

  // ---------------------------------------------------------------- a keyspace

  /** Goes on to give a keyspace up, until the others have what was written here. */
  boolean isQuiet(String keyspace) {
    return givingUp(keyspace).isQuiet();
  }

  /** Goes on to give away the rights in a keyspace. Returns whether it is done. */
  boolean giveAway(String keyspace, List<String> heirs) {
    return givingUp(keyspace).step(heirs);
  }

  private LeaveProcedure givingUp(String keyspace) {
    return givenUp.computeIfAbsent(
        keyspace,
        name -> {
          LOG.info("keyspace '{}' is given up here", name);
          return new LeaveProcedure(
              self,
              new GivenUp.Running(
                  keyspaces, () -> Optional.ofNullable(keyspaces.find(name)).stream().toList()),
              failedWalks);
        });
  }

  /** A keyspace is not given up after all. */
  void resume(String keyspace) {
    Optional.ofNullable(givenUp.remove(keyspace))
        .filter(of -> leaving.isEmpty())
        .ifPresent(LeaveProcedure::stay);
  }

  void forget(String keyspace) {
    givenUp.remove(keyspace);
  }

  // ---------------------------------------------------------------- others

  /** Goes on to take over what fell to this one. Returns whether the others have that. */
  boolean inherit(Estate estate) {
    RightsTakeover of = inheriting.get(estate.from());
    if (of == null || !of.estate().equals(estate)) {
      of = new RightsTakeover(self, keyspaces, estate, failedWalks);
      inheriting.put(estate.from(), of);
    }
    return of.step();
  }

  /** A keyspace has other holders: more may fall to this one. */
  void lookAgain() {
    inheriting.values().forEach(RightsTakeover::lookAgain);
  }
}
