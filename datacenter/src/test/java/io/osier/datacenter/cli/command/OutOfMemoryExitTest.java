package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.osier.core.Value;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import io.osier.proxy.RegisterHandle;
import io.osier.testing.Patience;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** Processes that run out of memory end, wherever the error comes and whoever swallows it. */
final class OutOfMemoryExitTest {
  private static final String LINE = "error OUT_OF_MEMORY: set this lower";

  @TempDir private Path dir;

  /** What the test starts as a process of its own. */
  static final class Child {
    static final Collection<byte[]> KEPT = new ArrayList<>();

    private Child() {}

    public static void main(String[] args) throws Exception {
      if (args[0].equals("server")) {
        System.exit(new CommandLine(new ServerCommand()).execute("--config", args[1]));
      }
      OutOfMemoryExit.install(LINE);
      EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
      switch (args[0]) {
        case "thread" -> Thread.ofPlatform().start(() -> fill(new ArrayList<>()));
        case "virtual" -> Thread.ofVirtual().start(() -> fill(new ArrayList<>()));
        case "loop" -> loops.execute(() -> fill(new ArrayList<>()));
        case "future" -> CompletableFuture.runAsync(() -> fill(KEPT));
        case "direct" -> loops.execute(() -> direct(new ArrayList<>()));
        default -> throw new IllegalArgumentException(args[0]);
      }
      new CountDownLatch(1).await();
    }

    private static void fill(Collection<byte[]> kept) {
      while (true) {
        kept.add(new byte[64 << 10]);
      }
    }

    private static void direct(Collection<ByteBuffer> kept) {
      while (true) {
        kept.add(ByteBuffer.allocateDirect(1 << 20));
      }
    }
  }

  private Process start(String... args) throws IOException {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(List.of("-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    line.add("--enable-native-access=ALL-UNNAMED");
    line.addAll(List.of("-cp", System.getProperty("java.class.path"), Child.class.getName()));
    line.addAll(List.of(args));
    return new ProcessBuilder(line).redirectErrorStream(true).redirectOutput(log()).start();
  }

  private File log() {
    return dir.resolve("log").toFile();
  }

  /** A thread that still runs may log something after the line. */
  private void assertEnds(Process process, String line, String help) throws Exception {
    try {
      assertThat(process.waitFor(Patience.SECONDS, TimeUnit.SECONDS)).as("ends").isTrue();
      assertThat(process.exitValue()).isEqualTo(3);
      assertThat(Files.readAllLines(log().toPath()))
          .filteredOn(said -> said.startsWith(line))
          .singleElement(STRING)
          .contains(help);
    } finally {
      process.destroyForcibly();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"thread", "virtual", "loop", "future", "direct"})
  void outOfMemory_endsTheProcess(String where) throws Exception {
    assertEnds(start(where), LINE, "");
  }

  /** Where a server that was started serves clients, as it says in its log. */
  private int port(Process process) {
    Pattern said = Pattern.compile("serves clients on 127\\.0\\.0\\.1:(\\d+)");
    return Awaitility.await()
        .until(
            () -> {
              String text = Files.readString(log().toPath());
              Matcher matcher = said.matcher(text);
              if (matcher.find()) {
                return Integer.parseInt(matcher.group(1));
              }
              assertThat(process.isAlive()).as(text).isTrue();
              return 0;
            },
            found -> found != 0);
  }

  @Test
  void server_thatIsGivenMoreThanItCanKeep_ends() throws Exception {
    Path config = dir.resolve("eu.conf");
    Files.writeString(
        config,
        """
        osier {
          dc = eu, listen { client-port = 0, peer-port = 0 }, store.dir = ""
          keyspaces { shop {} }
        }
        """);
    Process process = start("server", config.toString());
    int port = port(process);
    try (OsierClient client = PatientClients.of("eu", port).build()) {
      client.awaitConnected(Patience.LIMIT);
      RegisterHandle[] registers = new RegisterHandle[4_000];
      for (int i = 0; i < registers.length; i++) {
        registers[i] = client.session().keyspace("shop").register("r" + i);
      }
      Value value = Value.of("v".repeat(50_000));
      for (int i = 0; i < registers.length && process.isAlive(); i++) {
        CompletableFuture<?> unused = registers[i].assignAsync(value);
      }
      Awaitility.await().until(() -> !process.isAlive());
    }
    assertEnds(process, "error OUT_OF_MEMORY: the datacenter ends", "osier.store.dir");
  }
}
