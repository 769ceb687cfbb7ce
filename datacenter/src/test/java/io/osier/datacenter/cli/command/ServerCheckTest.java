package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.tls.TlsName;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Datacenter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ServerCheckTest {
  @TempDir private Path dir;

  private DatacenterConfig config(String dc, Path store, String more) {
    return ConfigReader.read(
        "f.conf",
        """
        osier {
          dc = %s, keyspaces { shop {} }, shutdown-timeout = 0s
          listen { client-port = 0, peer-port = 0 }
          store { dir = "%s", min-free = 1MiB }
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

  @Test
  void portThatIsTaken_isNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = "osier.listen.client-port = " + taken.getLocalPort();
      assertThat(ServerCheck.problems(config("eu", dir, port)))
          .singleElement()
          .asString()
          .startsWith("osier.listen.client-port: ")
          .contains(":" + taken.getLocalPort() + " cannot be listened on");
    }
  }

  @Test
  void storeOfAnother_andOneThatCannotBeMade_areNamed() throws IOException {
    Datacenter.start(config("eu", dir, "")).close();
    assertThat(ServerCheck.problems(config("eu", dir, ""))).isEmpty();
    assertThat(ServerCheck.problems(config("eu", dir, "osier.cluster = other")))
        .singleElement()
        .asString()
        .contains("holds the data of 'eu'");
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
