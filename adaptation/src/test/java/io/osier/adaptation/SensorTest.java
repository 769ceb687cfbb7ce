package io.osier.adaptation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SensorTest {
  /** All of its fields, so also those that somebody adds. */
  @Test
  void cleared_isAsNew() {
    Sensor sensor = new Sensor();
    for (int period = 0; period < 10; period++) {
      for (int n = 0; n < 50 * period; n++) {
        sensor.updated(30, 100);
      }
      sensor.flushed(20, 400);
      sensor.period(0.5, 3);
    }
    assertThat(sensor.perSecond()).isPositive();
    sensor.clear();
    assertThat(sensor).usingRecursiveComparison().isEqualTo(new Sensor());
  }
}
