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
  private static final SoakLoad.Audit CLEAN = new SoakLoad.Audit(0, 0, 0);
  private static final Map<String, Integer> STEADY = Map.of("eu-us", 1, "eu-ap", 2);
  private static final Map<String, Long> SMALL = Map.of("eu", 75L);

  private static List<String> faults(
      List<String> dead,
      boolean equal,
      SoakLoad.Audit audit,
      Map<String, Integer> connections,
      Map<String, Long> heap) {
    return new Verdict(dead, equal, audit, connections, "ap", heap, 100).faults();
  }

  @Test
  void nothingWrong_isNoFault() {
    assertThat(faults(List.of(), true, CLEAN, STEADY, SMALL)).isEmpty();
  }

  @Test
  void eachFault_isNamed() {
    assertThat(faults(List.of("us"), true, CLEAN, STEADY, SMALL)).hasSize(1);
    assertThat(faults(List.of(), false, CLEAN, STEADY, SMALL)).hasSize(1);
    assertThat(faults(List.of(), true, new SoakLoad.Audit(1, 2, 3), STEADY, SMALL)).hasSize(3);
    assertThat(faults(List.of(), true, CLEAN, Map.of("eu-us", 2), SMALL)).as("flaps").hasSize(1);
    assertThat(faults(List.of(), true, CLEAN, Map.of("ap-us", 4), SMALL)).as("flaps").hasSize(1);
    assertThat(faults(List.of(), true, CLEAN, Map.of("eu-us", 0), SMALL)).as("none").hasSize(1);
    assertThat(faults(List.of(), true, CLEAN, STEADY, Map.of("eu", 76L))).as("heap").hasSize(1);
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
