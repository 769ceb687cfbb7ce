package io.osier.propagation.in;

import static java.util.Objects.requireNonNull;

import io.osier.propagation.host.Late;
import io.osier.propagation.host.Surroundings;
import io.osier.propagation.wire.Shipment;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The peers' streams, and what is counted of what they bring. Not thread-safe. */
final class Streams {
  private final Surroundings around;
  private final Map<String, InboundStream> byDc = new TreeMap<>();
  private long placesChanged;

  Streams(Surroundings around) {
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

  void put(InboundStream in) {
    byDc.put(in.sender().dc(), in);
  }

  Collection<InboundStream> all() {
    return byDc.values();
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
      Late.Delay delay =
          new Late.Delay(
              shipment.ageMillis(),
              nowMillis - sentMillis,
              waitedNanos / 1_000_000,
              in.shortestWayMillis());
      around.stats().visible(in.sender().dc(), delay, outage, around.slaNanos() / 1_000_000);
    }
  }
}
