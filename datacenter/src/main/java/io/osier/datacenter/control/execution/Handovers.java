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
 * Hands this datacenter's rights over while it leaves the cluster or a keyspace, and takes over
 * those of removed datacenters. Works in steps, in the control plane's thread.
 */
final class Handovers {
  private static final Logger LOG = LoggerFactory.getLogger(Handovers.class);

  private final ReplicaId self;
  private final Keyspaces keyspaces;
  private Optional<LeaveProcedure> leaving = Optional.empty();

  /** The keyspaces that are given up here, by name. */
  private final Map<String, LeaveProcedure> givenUp = new TreeMap<>();

  /** The takeovers by the removed datacenter's name. */
  private final Map<String, RightsTakeover> inheriting = new TreeMap<>();

  private final LongAdder failedWalks = new LongAdder();

  Handovers(ReplicaId self, Keyspaces keyspaces) {
    this.self = self;
    this.keyspaces = keyspaces;
  }

  /** Returns how often a walk through all objects has failed. For any thread. */
  long failedWalks() {
    return failedWalks.sum();
  }

  // ---------------------------------------------------------------- the cluster

  boolean leaves() {
    return leaving.isPresent();
  }

  /** Returns, in words, why this datacenter has not finished leaving. */
  List<String> progress() {
    return leaving.flatMap(LeaveProcedure::progress).stream().toList();
  }

  /**
   * Goes on with leaving: the first of these heirs that can gets the rights. Returns whether it is
   * done.
   */
  boolean leave(List<String> heirs) {
    LOG.debug("the rights of this datacenter go to the first of {} that can take them", heirs);
    return leaving().step(heirs);
  }

  /** Goes on with leaving until the others have everything that was written here. */
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

  /** Ends the leaving: this datacenter stays. */
  void stay() {
    LOG.info("this datacenter stays");
    leaving.ifPresent(LeaveProcedure::stay);
    leaving = Optional.empty();
    givenUp.clear(); // these begin anew: their partitions were told to stay, too
  }

  // ---------------------------------------------------------------- a keyspace

  /** Goes on with giving up a keyspace until the others have everything that was written here. */
  boolean isQuiet(String keyspace) {
    return givingUp(keyspace).isQuiet();
  }

  /** Goes on with giving away the rights in a keyspace. Returns whether it is done. */
  boolean giveAway(String keyspace, List<String> heirs) {
    return givingUp(keyspace).step(heirs);
  }

  private LeaveProcedure givingUp(String keyspace) {
    return givenUp.computeIfAbsent(
        keyspace,
        name -> {
          LOG.info("this datacenter begins to leave the holders of keyspace '{}'", name);
          return new LeaveProcedure(
              self,
              new GivenUp.Running(
                  keyspaces, () -> Optional.ofNullable(keyspaces.find(name)).stream().toList()),
              failedWalks);
        });
  }

  /** Keeps a keyspace that is not given up after all. */
  void resume(String keyspace) {
    Optional.ofNullable(givenUp.remove(keyspace))
        .filter(of -> leaving.isEmpty())
        .ifPresent(LeaveProcedure::stay);
  }

  void forget(String keyspace) {
    givenUp.remove(keyspace);
  }

  // ---------------------------------------------------------------- removed datacenters

  /** Goes on with a takeover. Returns whether the others have its changes. */
  boolean inherit(Estate estate) {
    RightsTakeover of = inheriting.get(estate.from());
    if (of == null || !of.estate().equals(estate)) {
      of = new RightsTakeover(self, keyspaces, estate, failedWalks);
      inheriting.put(estate.from(), of);
    }
    return of.step();
  }

  /** A keyspace has other holders: this datacenter may be the heir of more rights. */
  void lookAgain() {
    inheriting.values().forEach(RightsTakeover::lookAgain);
  }
}
