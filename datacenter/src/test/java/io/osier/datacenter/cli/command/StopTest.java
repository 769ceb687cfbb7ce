package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.net.Ports;
import io.osier.testing.Patience;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** A server's process that is told to stop. */
final class StopTest {
  @TempDir private Path dir;

  /** What the test starts as a process of its own. */
  static final class Child {
    private Child() {}

    public static void main(String[] args) {
      System.exit(new CommandLine(new ServerCommand()).execute("--config", args[0]));
    }
  }

  /** Whether a port is open, or says that all is ready. */
  private static boolean isUp(int port, boolean ready) {
    if (!ready) {
      try (Socket reached = new Socket(InetAddress.getLoopbackAddress(), port)) {
        return reached.isConnected();
      } catch (IOException e) {
        return false;
      }
    }
    try {
      URI uri = URI.create("http://127.0.0.1:" + port + "/readyz");
      HttpURLConnection asked = (HttpURLConnection) uri.toURL().openConnection();
      return asked.getResponseCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  @Test
  void startThatFindsTheDiskFullAgainAndAgain_isTriedEverMoreSeldom() {
    long pause = ServerCommand.longerPauseMillis(0);
    assertThat(pause).isEqualTo(5_000);
    assertThat(ServerCommand.longerPauseMillis(pause)).isEqualTo(10_000);
    for (int i = 0; i < 20; i++) {
      pause = ServerCommand.longerPauseMillis(pause);
    }
    assertThat(pause).isEqualTo(60_000);
  }

  /** The first moments at which anybody may know of it, and may rely on it. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void sigtermAtTheFirstMoment_stopsItGracefully(boolean ready) throws Exception {
    int port = Ports.free();
    Path config = dir.resolve("eu.conf");
    Files.writeString(
        config,
        """
        osier {
          dc = eu, listen { client-port = 0, peer-port = 0 }, store.dir = "%s"
          admin { enabled = true, port = %d }
          keyspaces { shop {} }
        }
        """
            .formatted(dir.resolve("data"), port));
    Path log = dir.resolve("log");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                System.getProperty("java.class.path"),
                Child.class.getName(),
                config.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    try {
      long deadline = System.nanoTime() + Patience.LIMIT.toNanos();
      while (!isUp(port, ready) && process.isAlive() && System.nanoTime() < deadline) {
        LockSupport.parkNanos(1_000_000);
      }
      process.destroy();
      assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).as("ends").isTrue();
      List<String> lines = Files.readAllLines(log);
      boolean wasOpen = lines.stream().anyMatch(l -> l.contains("is closed"));
      boolean ended = lines.stream().anyMatch(l -> l.contains("the start ends"));
      assertThat(wasOpen || ended).as("%s", lines).isTrue();
      assertThat(process.exitValue()).isEqualTo(143);
    } finally {
      process.destroyForcibly();
    }
  }
}
