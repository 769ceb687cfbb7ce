package io.osier.datacenter.control;

import io.osier.datacenter.placement.DemandCounters.Counts;
import io.osier.datacenter.placement.Measured;
import io.osier.datacenter.placement.PlacementHost;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/** A datacenter of whose clients a test says what they have asked. */
final class FakeLoad implements PlacementHost {
  final List<String> audited = new ArrayList<>();
  List<String> counted = List.of();
  double wayMillis = 80;
  OptionalLong room = OptionalLong.empty();
  Set<String> lagging = Set.of();
  private long reads;
  private long updates;

  void asked(long moreReads, long moreUpdates) {
    reads += moreReads;
    updates += moreUpdates;
  }

  @Override
  public void count(Collection<String> keyspaces) {
    counted = List.copyOf(keyspaces);
  }

  @Override
  public Measured measured(String keyspace) {
    TreeMap<String, Double> ways = new TreeMap<>();
    HolderPlaneFixture.DCS.forEach(dc -> ways.put(dc, wayMillis));
    return new Measured(
        new Counts(reads, updates, reads, 200 * reads),
        updates,
        100 * updates,
        1_000_000,
        room,
        ways);
  }

  @Override
  public Set<String> lagging() {
    return lagging;
  }

  @Override
  public void moved(String keyspace, String command, String why) {
    audited.add(command + ": " + why);
  }

  @Override
  public void refused(String command, String why) {
    throw new AssertionError(command + " is refused: " + why);
  }
}
