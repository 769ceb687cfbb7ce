package io.osier.bench.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class VerdictTest {
  private static List<String> connected(String link, int times) {
    return Connections.faults(Map.of(link, times), "ap", false);
  }

  @Test
  void linkThatFlaps_orNeverConnects_isNamed() {
    assertThat(connected("eu-us", 1)).isEmpty();
    assertThat(connected("eu-ap", 3)).isEmpty();
    assertThat(connected("eu-us", 2)).hasSize(1);
    assertThat(connected("ap-us", 4)).hasSize(1);
    assertThat(connected("eu-us", 0)).hasSize(1);
  }

  @Test
  void onABusyMachine_linksMayFlap_butMustConnect() {
    assertThat(Connections.faults(Map.of("eu-us", 9), "ap", true)).isEmpty();
    assertThat(Connections.faults(Map.of("eu-us", 0), "ap", true)).hasSize(1);
  }

  @Test
  void heap_mayBeUsedToThreeQuarters() {
    assertThat(SoakCommand.heapFaults(List.of("eu"), Map.of("eu", 75L), 100)).isEmpty();
    assertThat(SoakCommand.heapFaults(List.of("eu"), Map.of("eu", 76L), 100)).hasSize(1);
  }

  @Test
  void heap_thatWasNeverMeasured_isAFault() {
    assertThat(SoakCommand.heapFaults(List.of("eu", "us"), Map.of("eu", 1L), 100))
        .containsExactly("the heap of us was never measured");
  }

  @Test
  void connections_areCountedInTheLogs(@TempDir Path directory) throws IOException {
    Files.writeString(
        directory.resolve("eu.log"),
        "1 INFO connected to us/17\n2 INFO connection to us lost\n3 INFO connected to us/17\n");
    Files.writeString(directory.resolve("us.log"), "");
    assertThat(Connections.of(directory, List.of("eu", "us")))
        .containsExactly(Map.entry("eu-us", 2), Map.entry("us-eu", 0));
  }
}
