package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.propagation.host.LateCounts;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The peers' streams, and what is counted of what they bring. Not thread-safe. */
final class InboundStreams {
  private final ReplicationContext around;
  private final Map<String, InboundStream> byDc = new TreeMap<>();

  /** Of former incarnations, while something of them waits for what comes before it. */
  private final List<InboundStream> left = new ArrayList<>();

  private long placesChanged;

  InboundStreams(ReplicationContext around) {
    this.around = around;
  }

  /** The stream of a datacenter's last incarnation; null if it was never heard. */
  @Nullable InboundStream get(String dc) {
    return byDc.get(dc);
  }

  /** The same, of a datacenter that was heard. */
  InboundStream of(String dc) {
    return requireNonNull(byDc.get(dc), "nothing was heard of the datacenter");
  }

  /** Its datacenter's former stream, if there is one, has ended. */
  void put(InboundStream in) {
    InboundStream former = byDc.put(in.sender().dc(), in);
    if (former != null && former.pending().heapBytes() > 0) {
      left.add(former);
    }
  }

  Collection<InboundStream> all() {
    return byDc.values();
  }

  /** What is being pulled takes so much in the heap, about, in bytes. */
  long pulledBytes() {
    long bytes = 0;
    for (InboundStream in : all()) {
      bytes += in.pulledBytes();
    }
    return bytes;
  }

  /** Those of former incarnations of which something waits. */
  List<InboundStream> left() {
    left.removeIf(in -> in.pending().heapBytes() == 0);
    return left;
  }

  /** Those of which something may wait: all, and what has ended. */
  Collection<InboundStream> holding() {
    if (left().isEmpty()) {
      return all();
    }
    List<InboundStream> holding = new ArrayList<>(all());
    holding.addAll(left);
    return holding;
  }

  /** The place up to which everything of a stream was applied may have moved. */
  void placeChanged() {
    placesChanged++;
  }

  long placesChanged() {
    return placesChanged;
  }

  /**
   * An update of a stream became visible.
   *
   * @param outage whether it waited for a link that was down
   * @param sentMillis when it was sent, by the sender's clock
   * @param waitedNanos how long it waited here for something else
   */
  void visible(
      InboundStream in,
      Shipment shipment,
      boolean outage,
      long sentMillis,
      long waitedNanos,
      long nowMillis) {
    around.stats().applied(shipment.updates());
    if (shipment.updates() > 0) {
      LateCounts.Delay delay =
          new LateCounts.Delay(
              shipment.ageMillis(),
              nowMillis - sentMillis,
              waitedNanos / 1_000_000,
              in.liveness().shortestWayMillis());
      around.stats().visible(in.sender().dc(), delay, outage, around.slaNanos() / 1_000_000);
    }
  }
}
