package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A host that embeds a datacenter need not have what only the command line uses. */
final class EmbeddedDependenciesTest {
  private static final Pattern COMMAND_LINE_ONLY =
      Pattern.compile("(logback|picocli|jline|jackson|opentelemetry-(sdk|exporter)).*");

  @TempDir private Path dir;

  /** A process without them: in memory, with a store, asked for everything that it can tell. */
  static final class Host {
    private Host() {}

    public static void main(String[] args) {
      run("dir = \"\"");
      run("dir = \"" + args[0] + "\"");
      System.out.println("works");
    }

    private static void run(String store) {
      String config =
          """
          osier {
            dc = eu, store { $store }, listen { client-port = 0, peer-port = 0 }
            keyspaces { shop {} }
            admin { enabled = true, port = 0 }
          }
          """
              .replace("$store", store);
      try (EmbeddedDatacenter eu = EmbeddedDatacenter.start(config)) {
        eu.awaitReady(Patience.LIMIT);
        eu.session().keyspace("shop").register("r").assign(Value.of("v"));
        for (Request.Topic topic : Request.Topic.values()) {
          String report = eu.client().inspectAsync("eu", topic, Optional.empty(), 10).join();
          if (!report.contains("shop")) {
            throw new IllegalStateException(report);
          }
        }
      }
    }
  }

  @Test
  void embeddedDatacenter_runsWithoutWhatTheCommandLineNeeds() throws Exception {
    List<String> all =
        Arrays.asList(System.getProperty("java.class.path").split(File.pathSeparator));
    String without =
        all.stream()
            .filter(p -> !COMMAND_LINE_ONLY.matcher(Path.of(p).getFileName().toString()).matches())
            .collect(Collectors.joining(File.pathSeparator));
    assertThat(without.split(File.pathSeparator)).hasSizeLessThan(all.size());
    Path log = dir.resolve("log");
    Process host =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                without,
                Host.class.getName(),
                dir.resolve("data").toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      assertThat(host.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(Files.readString(log)).contains("works");
      assertThat(host.exitValue()).isZero();
    } finally {
      host.destroyForcibly();
    }
  }
}
