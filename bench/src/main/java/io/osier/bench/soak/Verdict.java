package io.osier.bench.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a soak found, and what of it must not be.
 *
 * @param dead datacenters whose process has ended
 * @param equal whether all showed the same in the time
 * @param audit of what was acknowledged
 * @param connections made, by direction
 * @param away the datacenter that was away once
 * @param heapMax the most that each datacenter's objects took after a collection, in bytes
 * @param heapLimit the size of each heap
 */
record Verdict(
    List<String> dead,
    boolean equal,
    SoakLoad.Audit audit,
    Map<String, Integer> connections,
    String away,
    Map<String, Long> heapMax,
    long heapLimit) {
  /** What the objects of a process may take of its heap: the rest is for what comes and goes. */
  private static final double HEAP_SHARE = 0.75;

  /** At the start. */
  private static final int CONNECTED_MAX = 1;

  /**
   * At the start and after the cut; and once more where a dial that hung in the cut comes through
   * after a newer one, and takes its place.
   */
  private static final int CONNECTED_MAX_AWAY = 3;

  /** Each fault in one line; none if all is well. */
  List<String> faults() {
    List<String> faults = new ArrayList<>();
    dead.forEach(dc -> faults.add("the process of " + dc + " has ended; see its log"));
    if (!equal) {
      faults.add("the datacenters did not become equal");
    }
    if (audit.different() > 0) {
      faults.add(audit.different() + " objects differ");
    }
    if (audit.missing() > 0) {
      faults.add(audit.missing() + " acknowledged updates are missing");
    }
    if (audit.surplus() > 0) {
      faults.add(audit.surplus() + " updates are there too often");
    }
    connections.forEach(
        (link, made) -> {
          int most = List.of(link.split("-")).contains(away) ? CONNECTED_MAX_AWAY : CONNECTED_MAX;
          if (made < 1 || made > most) {
            faults.add(link + " connected " + made + " times instead of at most " + most);
          }
        });
    heapMax.forEach(
        (dc, bytes) -> {
          if (bytes > heapLimit * HEAP_SHARE) {
            faults.add(
                "the objects of %s took %,d of %,d bytes of heap".formatted(dc, bytes, heapLimit));
          }
        });
    return faults;
  }
}
