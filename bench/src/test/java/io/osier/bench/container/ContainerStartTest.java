package io.osier.bench.container;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.bench.container.Engine.Done;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The image as it is started by hand: what is wrong is the log's first line, with what helps; and
 * what an operator may expect of it.
 */
@NeedsEngine
@Timeout(300)
final class ContainerStartTest {
  private static final int SECONDS_MAX = 120;
  private static final long IMAGE_BYTES_MAX = 260_000_000;

  @TempDir private Path dir;

  private final String name = "osier-test-" + UUID.randomUUID();
  private Path config;

  @BeforeEach
  void configure() throws IOException {
    Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwxr-xr-x"));
    config = dir.resolve("osier.conf");
    Files.writeString(config, "osier { dc = eu, insecure = true, keyspaces { shop {} } }\n");
    Files.setPosixFilePermissions(config, PosixFilePermissions.fromString("rw-r--r--"));
  }

  @AfterEach
  void remove() {
    Engine.docker(SECONDS_MAX, "rm", "-f", "-v", name, name + "-2");
    Engine.docker(SECONDS_MAX, "volume", "rm", "-f", name);
  }

  private String mounted() {
    return config + ":/etc/osier/osier.conf:ro";
  }

  /** Runs the image until it ends by itself. */
  private static Done run(String... options) {
    List<String> command = new ArrayList<>(List.of("run", "--rm"));
    command.addAll(List.of(options));
    command.add(Engine.image());
    return Engine.docker(SECONDS_MAX, command.toArray(String[]::new));
  }

  private void assertRefused(Done done, String... says) {
    assertThat(done.exitCode()).as(done.text()).isEqualTo(1);
    assertThat(done.first()).contains(says);
  }

  private void start(String... options) {
    List<String> command = new ArrayList<>(List.of("run", "-d", "--name", name));
    command.addAll(List.of(options));
    command.add(Engine.image());
    Done done = Engine.docker(SECONDS_MAX, command.toArray(String[]::new));
    assertThat(done.exitCode()).as(done.text()).isZero();
  }

  private Done logs() {
    return Engine.docker(SECONDS_MAX, "logs", name);
  }

  private String inspect(String format) {
    return Engine.docker(SECONDS_MAX, "inspect", "-f", format, name).text();
  }

  private void awaitHealthy() {
    await()
        .atMost(Duration.ofSeconds(SECONDS_MAX))
        .untilAsserted(
            () ->
                assertThat(inspect("{{.State.Health.Status}}"))
                    .as(() -> logs().text())
                    .isEqualTo("healthy"));
  }

  @Test
  void noConfiguration() {
    assertRefused(
        run(), "osier: error: there is no /etc/osier/osier.conf", "-v $PWD/osier.conf:/etc/osier");
  }

  /** Docker makes a folder of what is not there. */
  @Test
  void configurationThatIsNotOnTheHost() {
    assertRefused(
        run("-v", dir.resolve("nothing.conf") + ":/etc/osier/osier.conf:ro"),
        "osier: error: /etc/osier/osier.conf is a folder",
        "make the file on the host");
  }

  @Test
  void foreignOwnedVolume() throws IOException {
    Path data = Files.createDirectory(dir.resolve("data"));
    Files.setPosixFilePermissions(data, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertRefused(
        run("-v", mounted(), "-v", data + ":/var/lib/osier"),
        "osier: error: /var/lib/osier belongs to user ",
        "runs as user 7400",
        "chown -R 7400:7400");
  }

  /** As after a start with --user 0. */
  @Test
  void storeOfAnotherUserInTheVolume() {
    Done made =
        Engine.docker(
            SECONDS_MAX,
            "run",
            "--rm",
            "--user",
            "0",
            "-v",
            name + ":/var/lib/osier",
            "--entrypoint",
            "sh",
            Engine.image(),
            "-c",
            "mkdir -p /var/lib/osier/eu/db && chmod -R 700 /var/lib/osier/eu");
    assertThat(made.exitCode()).as(made.text()).isZero();
    assertRefused(
        run("-v", mounted(), "-v", name + ":/var/lib/osier"),
        "error CONFIGURATION: ",
        "/var/lib/osier/eu",
        "user");
  }

  @Test
  void readOnlyDisk() {
    assertRefused(
        run("-v", mounted(), "-v", name + ":/var/lib/osier:ro"),
        "osier: error: /var/lib/osier is on a read-only disk",
        "-v osier-data:/var/lib/osier");
    assertRefused(
        run("-v", mounted(), "--read-only"),
        "osier: error: /var/lib/osier is on a read-only disk",
        "-v osier-data:/var/lib/osier");
  }

  @Test
  void tooLittleMemory() {
    assertRefused(
        run("-v", mounted(), "--memory", "128m"),
        "osier: error: the container may use 128 MiB",
        "--memory 512m");
    assertRefused(
        run("-v", mounted(), "-v", name + ":/var/lib/osier", "-e", "OSIER_JAVA_OPTIONS=-Xmx24m"),
        "error CONFIGURATION: ",
        "does not fit in the heap",
        "OSIER_JAVA_OPTIONS=-Xmx");
  }

  @Test
  void noVolume_isWarnedOf_andServes_andItsPortIsOccupied() {
    start("-v", mounted());
    awaitHealthy();
    assertThat(logs().first())
        .startsWith("osier: warning: no volume is mounted at /var/lib/osier")
        .contains("-v osier-data:/var/lib/osier");
    assertRefused(
        run(
            "-v",
            mounted(),
            "--network",
            "container:" + name,
            "--tmpfs",
            "/var/lib/osier:uid=7400,gid=7400"),
        "error CONFIGURATION: osier.listen.peer-port: cannot listen on 0.0.0.0:7401",
        "another process");
  }

  @Test
  void readOnlyRoot_littleMemory_notAsRoot_isHealthy_andStopsGracefully() {
    start("-v", mounted(), "-v", name + ":/var/lib/osier", "--read-only", "--memory", "256m");
    awaitHealthy();
    Done id = Engine.docker(SECONDS_MAX, "exec", name, "id", "-u");
    assertThat(id.first()).isEqualTo("7400");
    Done cli = Engine.docker(SECONDS_MAX, "exec", name, "osier", "cli", "counter", "incr", "c");
    assertThat(cli.text()).isEqualTo("1");
    assertThat(Engine.docker(SECONDS_MAX, "stop", "-t", "60", name).exitCode()).isZero();
    assertThat(logs().text()).contains("is closed").doesNotContain("Exception");
    assertThat(inspect("{{.State.ExitCode}} {{.State.OOMKilled}}")).isEqualTo("143 false");
  }

  @Test
  void image_isSmall() {
    Done size = Engine.docker(SECONDS_MAX, "image", "inspect", "-f", "{{.Size}}", Engine.image());
    assertThat(Long.parseLong(size.text().strip())).isLessThan(IMAGE_BYTES_MAX);
  }
}
