package io.osier.bench.sim;

import static io.osier.bench.sim.Scheduler.MILLI;
import static io.osier.bench.sim.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.crdt.Causal;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.EnumSet;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of a connection that both ends, or one of them, have given up. */
final class SimNetworkTest {
  private static final int NARROW_BYTES_PER_SECOND = 900;
  private static final long EPOCH_OF_NOBODY = 1L << 40;

  private final Simulation simulation =
      new Simulation(new SimOptions(2, EnumSet.noneOf(Fault.class), 1), 1);

  private final SimNetwork network = simulation.network();

  /** A frame of some hundred bytes, of which the receiver takes no notice. */
  private void send() {
    Unit unit = simulation.units().getFirst();
    SimDc from = simulation.dc("dc0");
    Shipment shipment =
        new Shipment(
            new ObjectId(Key.of("k"), CrdtType.AW_SET),
            from.self(),
            0,
            VersionVector.EMPTY,
            1,
            1,
            0,
            Causal.bottom(CrdtType.AW_SET));
    requireNonNull(from.transport())
        .send(
            simulation.dc("dc1").self(),
            unit.policy().name(),
            unit.partition(),
            new Frame.Updates(
                Frame.Kind.CATCH_UP,
                EPOCH_OF_NOBODY,
                1,
                1,
                VersionVector.EMPTY,
                Optional.empty(),
                false,
                0,
                Stream.generate(() -> shipment).limit(50).toList()));
  }

  /**
   * Seed 532 with three datacenters: what a narrow link still held of a connection that hung, for
   * more than a minute, kept the next ones from greeting, until they were given up in their turn.
   * That a connection is never given up where bytes go is checked by the network itself.
   */
  @ParameterizedTest
  @ValueSource(ints = {4_200, 4_500, 5_000, 7_000, 10_000})
  void restOfAConnectionThatHung_doesNotHoldUpTheNextOne(int hangsMillis) {
    network.addLink("dc0", "dc1");
    network.addLink("dc1", "dc0");
    simulation.dcs().forEach(d -> d.start(d.self()));
    SimLink link = network.link("dc0", "dc1");
    simulation.scheduler().runFor(5 * SECOND);
    assertThat(link.isUp()).isTrue();

    link.squeeze(NARROW_BYTES_PER_SECOND);
    for (int i = 0; i < 200; i++) {
      send();
    }
    simulation.scheduler().runFor(2 * SECOND);
    link.hang(true);
    simulation.scheduler().runFor(hangsMillis * MILLI);
    link.hang(false);
    simulation.scheduler().runFor(15 * SECOND);
    assertThat(link.isUp()).isTrue();
    simulation.scheduler().runFor(120 * SECOND);
    assertThat(link.isUp()).isTrue();
  }
}
