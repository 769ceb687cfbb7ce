package io.osier.datacenter.forward;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class NearestHolderTest {
  private static final long MILLI = 1_000_000;
  private static final List<String> UP = List.of("eu", "us");

  private final NearestHolder nearest = new NearestHolder();

  private void measure(String dc, long millis) {
    nearest.begins(dc, 0);
    nearest.measured(dc, millis * MILLI);
  }

  @Test
  void firstByName_whileNothingIsMeasured_thenTheNearest() {
    assertThat(nearest.choose(UP, null, 0)).isEqualTo("eu");
    measure("us", 20);
    assertThat(nearest.choose(UP, "eu", 0)).isEqualTo("us");
    measure("eu", 5);
    assertThat(nearest.choose(UP, "us", 0)).isEqualTo("eu");
    assertThat(nearest.choose(List.of(), "eu", 0)).isNull();
  }

  @Test
  void presentOne_stays_unlessAnotherIsClearlyNearer() {
    measure("eu", 100);
    measure("us", 80);
    assertThat(nearest.choose(UP, "eu", 0)).isEqualTo("eu");
    assertThat(nearest.choose(UP, null, 0)).isEqualTo("us");
    for (int i = 0; i < 20; i++) {
      measure("us", 60);
    }
    assertThat(nearest.choose(UP, "eu", 0)).isEqualTo("us");
    assertThat(nearest.choose(List.of("eu"), "us", 0)).as("us is down").isEqualTo("eu");
  }

  @Test
  void oneThatDoesNotAnswer_isAsFarAsItHasBeenSilent() {
    measure("eu", 10);
    measure("us", 80);
    assertThat(nearest.begins("eu", 0)).isTrue();
    assertThat(nearest.begins("eu", 0)).as("one at a time").isFalse();
    assertThat(nearest.choose(UP, "eu", 70 * MILLI)).isEqualTo("eu");
    assertThat(nearest.choose(UP, "eu", 200 * MILLI)).isEqualTo("us");
  }

  @Test
  void oneThatCannotServe_isAvoidedForAWhile_unlessThereIsNoOther() {
    measure("eu", 10);
    measure("us", 80);
    nearest.avoid("eu", 50 * MILLI);
    assertThat(nearest.choose(UP, "eu", 0)).isEqualTo("us");
    assertThat(nearest.choose(List.of("eu"), "eu", 0)).isEqualTo("eu");
    assertThat(nearest.choose(UP, "us", 50 * MILLI)).isEqualTo("eu");
  }
}
