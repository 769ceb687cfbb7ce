package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.net.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Dashboards and alerts ask for nothing that a datacenter does not serve. */
class MonitoringFilesTest {
  private static final Path FILES = Path.of("src", "dist", "share", "monitoring");
  private static final Pattern NAME = Pattern.compile("\\b(?:osier|jvm|process|system)_[a-z0-9_]+");
  private static final Pattern LABELS =
      Pattern.compile("\\b((?:osier|jvm|process)_[a-z0-9_]+)\\{([^}]*)}");

  /** Given by Prometheus, not by the datacenter. */
  private static final Set<String> TARGET_LABELS = Set.of("dc", "job");

  /** Served once there was a pause, a request that failed. */
  private static final Set<String> LATER =
      Set.of("osier_client_failures_total", "jvm_gc_pause_seconds_sum");

  @TempDir Path dir;

  private String config(int admin) {
    return """
    osier { dc = eu, store.dir = "%s", listen { client-port = 0, peer-port = 0 }
      peers { us = "127.0.0.1:%d" }
      admin { enabled = true, port = %d }, keyspaces { shop {} } }
    """
        .formatted(dir, Ports.free(), admin);
  }

  private static List<String> expressions() throws IOException {
    List<String> all = new ArrayList<>();
    for (String line : Files.readAllLines(FILES.resolve("prometheus/alerts.yml"))) {
      if (line.strip().startsWith("expr:")) {
        all.add(line);
      }
    }
    for (String dashboard : List.of("fleet.json", "datacenter.json")) {
      JsonNode root = new ObjectMapper().readTree(FILES.resolve("grafana/" + dashboard).toFile());
      root.findValuesAsText("expr").forEach(all::add);
      root.findValuesAsText("definition").forEach(all::add);
    }
    return all;
  }

  @Test
  void everyMetricThatIsAskedFor_isServed_withItsLabels() throws Exception {
    List<String> expressions = expressions();
    assertThat(expressions).hasSizeGreaterThan(50);
    int admin = Ports.free();
    try (Datacenter eu = TestCluster.one(config(admin))) {
      assertThat(eu.obstacles()).isNotNull();
      await() // until all of its parts have published
          .untilAsserted(
              () ->
                  assertThat(missing(expressions, AdminHttp.get(admin, "/metrics").body()))
                      .isEmpty());
    }
  }

  private static Set<String> missing(List<String> expressions, String served) {
    Set<String> missing = new TreeSet<>();
    for (String expression : expressions) {
      Matcher name = NAME.matcher(expression);
      while (name.find()) {
        if (!LATER.contains(name.group()) && !isServed(served, name.group())) {
          missing.add(name.group());
        }
      }
      Matcher labelled = LABELS.matcher(expression);
      while (labelled.find()) {
        for (String label : labels(labelled.group(2))) {
          if (!LATER.contains(labelled.group(1))
              && !TARGET_LABELS.contains(label)
              && !hasLabel(served, labelled.group(1), label)) {
            missing.add(labelled.group(1) + "{" + label + "}");
          }
        }
      }
    }
    return missing;
  }

  private static boolean isServed(String served, String name) {
    return Pattern.compile("^" + name + "[{ ]", Pattern.MULTILINE).matcher(served).find();
  }

  private static boolean hasLabel(String served, String name, String label) {
    return Pattern.compile("^" + name + "\\{[^}]*\\b" + label + "=", Pattern.MULTILINE)
        .matcher(served)
        .find();
  }

  private static List<String> labels(String matchers) {
    List<String> names = new ArrayList<>();
    Matcher one = Pattern.compile("([a-z_]+)\\s*[=!]~?").matcher(matchers);
    while (one.find()) {
      names.add(one.group(1));
    }
    return names;
  }

  @Test
  void everyAlert_hasALineOnWhatHelps() throws IOException {
    String page = Files.readString(Path.of("..", "docs", "MONITORING.md"));
    List<String> alerts = new ArrayList<>();
    for (String line : Files.readAllLines(FILES.resolve("prometheus/alerts.yml"))) {
      if (line.strip().startsWith("- alert:")) {
        alerts.add(line.strip().substring("- alert:".length()).strip());
      }
    }
    assertThat(alerts).hasSizeGreaterThan(10).doesNotHaveDuplicates();
    for (String alert : alerts) {
      assertThat(page).as("the alerts' list").contains("- `" + alert + "`: ");
    }
  }
}
