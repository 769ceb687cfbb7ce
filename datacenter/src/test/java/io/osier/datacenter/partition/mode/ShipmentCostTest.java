package io.osier.datacenter.partition.mode;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class ShipmentCostTest {
  private final ShipmentCost cost = new ShipmentCost();

  private void handle(int times, int shipments, long nanos) {
    for (int i = 0; i < times; i++) {
      cost.handled(shipments, nanos);
    }
  }

  @Test
  void comesToWhatIsMeasured() {
    handle(20_000, 1, 10_000);
    assertThat(cost.bytes())
        .isCloseTo(10 * 3 * 50, org.assertj.core.data.Percentage.withPercentage(1));

    handle(2_000, 10, 20_000);
    assertThat(cost.bytes())
        .isCloseTo(2 * 3 * 50, org.assertj.core.data.Percentage.withPercentage(1));
  }

  @Test
  void aStallIsNotTakenForDearShipments() {
    handle(20_000, 1, 2_000);
    double before = cost.bytes();

    cost.handled(300, 60_000_000_000L);

    assertThat(cost.bytes()).isBetween(before, before + 500);
  }

  @Test
  void aFewShipmentsChangeNothing() {
    double before = cost.bytes();
    handle(100, 1, 1_000_000);
    assertThat(cost.bytes()).isEqualTo(before);
  }
}
