package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.tls.TlsName;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Datacenter;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

final class ServerCheckTest {
  @TempDir private Path dir;

  private DatacenterConfig config(String dc, Path store, String more) {
    return ConfigReader.read(
        "f.conf",
        """
        osier {
          dc = %s, keyspaces { shop {} }, shutdown-timeout = 0s
          listen { client-port = 0, peer-port = 0 }
          store { dir = "%s", min-free = 64MiB }
        }
        """
                .formatted(dc, store)
            + more,
        Map.of());
  }

  @Test
  void whatWouldStart_hasNoProblem_andNothingIsMade() {
    assertThat(ServerCheck.problems(config("eu", dir.resolve("new/store"), ""))).isEmpty();
    assertThat(dir).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {"listen.client-port", "listen.peer-port", "admin.port"})
  void portThatIsTaken_isNamed(String key) throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String admin = "osier.admin { enabled = true, port = 0 }\n";
      String port = "osier." + key + " = " + taken.getLocalPort();
      assertThat(ServerCheck.problems(config("eu", dir, admin + port)))
          .singleElement()
          .asString()
          .startsWith("osier." + key + ": ")
          .contains(":" + taken.getLocalPort() + " cannot be listened on");
    }
  }

  /** What another process does that holds the lock of a store. */
  static final class Holder {
    private Holder() {}

    public static void main(String[] lock) throws IOException {
      try (FileChannel channel = FileChannel.open(Path.of(lock[0]), StandardOpenOption.WRITE);
          FileLock held = channel.lock()) {
        System.out.println(held.isValid());
        System.in.read();
      }
    }
  }

  @Test
  void storeThatAnotherProcessHas_isNamed_andNothingIsChangedInOne() throws Exception {
    Datacenter.start(config("eu", dir, "")).close();
    Map<Path, String> before = files();
    assertThat(ServerCheck.problems(config("eu", dir, ""))).isEmpty();
    assertThat(files()).isEqualTo(before).isNotEmpty();
    Process holder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                Holder.class.getName(),
                dir.resolve("eu/db/LOCK").toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (BufferedReader said = holder.inputReader()) {
      assertThat(said.readLine()).isEqualTo("true");
      assertThat(ServerCheck.problems(config("eu", dir, "")))
          .singleElement()
          .asString()
          .endsWith("is in use by another process");
    } finally {
      holder.destroy();
    }
  }

  private Map<Path, String> files() throws IOException {
    try (Stream<Path> all = Files.walk(dir)) {
      Map<Path, String> files = new TreeMap<>();
      for (Path file : all.toList()) {
        files.put(file, Files.getLastModifiedTime(file) + " " + Files.size(file));
      }
      return files;
    }
  }

  @Test
  void passwordFileThatIsNotThere_isNamed() {
    String users = "osier.users { ann { password-file = nowhere, rights = [\"read *\"] } }";
    assertThat(ServerCheck.problems(config("eu", dir, users)))
        .singleElement()
        .asString()
        .startsWith("osier.users: ")
        .contains("nowhere");
  }

  @Test
  void storeOfAnother_andOneThatCannotBeMade_areNamed() throws Exception {
    Datacenter.start(config("eu", dir, "")).close();
    assertThat(ServerCheck.problems(config("eu", dir, ""))).isEmpty();
    assertThat(ServerCheck.problems(config("eu", dir, "osier.cluster = other")))
        .singleElement()
        .asString()
        .contains("holds the data of 'eu'");
    Path unused = dir.resolve("unused/eu/db");
    Files.createDirectories(unused);
    try (Options options = new Options().setCreateIfMissing(true)) {
      RocksDB.open(options, unused.toString()).close();
    }
    assertThat(ServerCheck.problems(config("eu", dir.resolve("unused"), ""))).isEmpty();
    Path file = Files.writeString(dir.resolve("file"), "");
    assertThat(ServerCheck.problems(config("eu", file, "")))
        .singleElement()
        .asString()
        .contains("cannot be made: " + file + " is no directory");
  }

  @Test
  void certificates_areRead_fitTheirKeys_andHaveNotExpired() throws IOException {
    CertificateMaker.authority(dir, "osier", 1);
    for (String name : List.of("eu", "us")) {
      CertificateMaker.signed(dir, name, TlsName.ofDatacenter("osier", name), List.of(), 1);
    }
    ExpiredCertificates.signed(dir, "old", TlsName.ofDatacenter("osier", "eu"), List.of());
    assertThat(ServerCheck.problems(withTls("eu", "eu"))).isEmpty();
    assertThat(ServerCheck.problems(withTls("eu", "us")))
        .singleElement()
        .asString()
        .contains("us.key");
    assertThat(ServerCheck.problems(withTls("us", "us")))
        .singleElement()
        .asString()
        .contains("us.pem names osier://osier/dc/us, not osier://osier/dc/eu");
    assertThat(ServerCheck.problems(withTls("nowhere", "eu")))
        .singleElement()
        .asString()
        .contains("nowhere.pem");
    assertThat(ServerCheck.problems(withTls("old", "old")))
        .singleElement()
        .asString()
        .contains("has expired");
  }

  private DatacenterConfig withTls(String certificate, String key) {
    return config(
        "eu",
        dir.resolve("store"),
        """
        osier.tls { certificate = "%s/%s.pem", key = "%s/%s.key", authorities = "%s/authority.pem" }
        """
            .formatted(dir, certificate, dir, key, dir));
  }
}
