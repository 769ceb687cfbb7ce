package io.osier.datacenter.cli.command;

import static java.nio.file.attribute.PosixFilePermission.OWNER_READ;
import static java.nio.file.attribute.PosixFilePermission.OWNER_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.net.HostPort;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.server.Datacenter;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class InitCommandTest {
  @TempDir Path dir;

  private int init(String... arguments) {
    return new CommandLine(new InitCommand()).execute(arguments);
  }

  @Test
  void init_withPeers_writesAFileThatAServerReads() {
    Path file = dir.resolve("eu.conf");
    assertThat(
            init(
                "--dc=eu",
                "--peers=us=127.0.0.1:7501,ap=[::1]:7601",
                "--keyspace=shop",
                "--file=" + file))
        .isZero();
    List<String> warnings = new ArrayList<>();
    DatacenterConfig config = ConfigReader.read(file.toFile(), Map.of(), warnings::add);
    assertThat(config.dc()).isEqualTo("eu");
    assertThat(config.peers().keySet()).containsExactlyInAnyOrder("us", "ap");
    assertThat(config.peers().values()).extracting(InetSocketAddress::getPort).contains(7501, 7601);
    assertThat(config.keyspaces()).extracting(KeyspacePolicy::name).containsExactly("shop");
    assertThat(config.store().dir().orElseThrow()).isEqualTo(Path.of("data", "eu"));
    assertThat(warnings).isEmpty();
    assertThat(file).content().doesNotContain("us.example");
  }

  @Test
  void init_withAName_writesItWhereverTheExampleHasItsOwn() {
    Path file = dir.resolve("mars.conf");
    assertThat(init("--dc=mars", "--file=" + file)).isZero();
    DatacenterConfig config = ConfigReader.read(file.toFile(), Map.of(), warning -> {});
    assertThat(config.dc()).isEqualTo("mars");
    assertThat(config.keyspaces()).extracting(KeyspacePolicy::name).containsExactly("default");
    assertThat(file).content().contains("/etc/osier/mars.key", "# us = ").doesNotContain("eu.key");
  }

  @Test
  void init_withAnExistingFile_leavesIt() throws Exception {
    Path file = Files.writeString(dir.resolve("eu.conf"), "mine");
    assertThat(init("--dc=eu", "--file=" + file)).isEqualTo(1);
    assertThat(file).hasContent("mine");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "us=nowhere      | 1",
        "us=a:1,us=b:1   | 2",
        "us=a:1,ap=a:1   | 1",
        "us              | 2",
        "eu=a:1          | 2",
      })
  void init_withWrongPeers_writesNothing(String peers, int exit) {
    Path file = dir.resolve("eu.conf");
    assertThat(init("--dc=eu", "--peers=" + peers, "--file=" + file)).isEqualTo(exit);
    assertThat(file).doesNotExist();
  }

  /** Ports that are free, no store. */
  private static final Map<String, String> ANYWHERE =
      Map.of(
          "OSIER_LISTEN_CLIENT_PORT", "0",
          "OSIER_LISTEN_PEER_PORT", "0",
          "OSIER_ADMIN_PORT", "0",
          "OSIER_STORE_DIR", "");

  private DatacenterConfig read(String file) {
    return ConfigReader.read(dir.resolve(file).toFile(), ANYWHERE, warning -> {});
  }

  private int secure(String dc, String... more) {
    List<String> line = new ArrayList<>(List.of("--dc=" + dc, "--tls"));
    line.add("--file=" + dir.resolve(dc + ".conf"));
    line.addAll(List.of(more));
    return init(line.toArray(String[]::new));
  }

  @Test
  void init_withTls_makesTheFirstOfACluster_whichAnotherOneJoins() throws Exception {
    assertThat(secure("eu", "--keyspace=shop")).isZero();
    Path secrets = dir.resolve("secrets");
    String password = Files.readString(secrets.resolve("admin.password")).strip();
    assertThat(password).hasSize(24);
    assertThat(dir.resolve("eu.conf")).content().doesNotContain(password);
    assertThat(Files.getPosixFilePermissions(secrets.resolve("admin.password")))
        .containsExactlyInAnyOrder(OWNER_READ, OWNER_WRITE);
    try (Datacenter eu = Datacenter.start(read("eu.conf"))) {
      String join = "--join=127.0.0.1:" + eu.clientPort();
      Path wrong = Files.writeString(dir.resolve("wrong"), "guessed");
      assertThat(secure("us", join, "--password-file=" + wrong)).isEqualTo(1);
      assertThat(dir.resolve("us.conf")).doesNotExist();
      assertThat(secure("us", join)).isZero(); // its certificate is there already
      DatacenterConfig us = read("us.conf");
      assertThat(us.peers())
          .containsOnlyKeys("eu")
          .extractingByKey("eu")
          .extracting(InetSocketAddress::getPort)
          .isEqualTo(eu.clientPort() + 1); // it does not know its own
      assertThat(us.keyspaces()).isEqualTo(read("eu.conf").keyspaces());
      Datacenter.start(us).close();
    }
  }

  /** Nobody is called "joined": the name of who is asked is not known before it answers. */
  @Test
  void init_thatJoinsWhereNobodyAnswers_saysWhatToStart() {
    HostPort at = new HostPort("eu.example", 7_400);
    OsierException refused =
        new OsierException(
            ErrorCode.UNAVAILABLE,
            "no datacenter can be reached (joined at eu.example:7400: the connection was refused)");
    assertThat(FoundCluster.silent(at, refused).reason())
        .startsWith("--join eu.example:7400: no datacenter can be reached (eu.example:7400: the")
        .contains("start it first", "--peers")
        .doesNotContain("joined at");
    OsierException wrong = new OsierException(ErrorCode.NOT_AUTHENTICATED, "wrong password");
    assertThat(FoundCluster.silent(at, wrong))
        .hasMessage("NOT_AUTHENTICATED: --join eu.example:7400: wrong password");
  }

  @Test
  void init_withAHost_letsOthersIn_andItsCertificateNamesIt() throws Exception {
    assertThat(secure("eu", "--host=eu.example", "--port=31900")).isZero();
    assertThat(dir.resolve("eu.conf"))
        .content()
        .contains("client-port = 31900", "peer-port = 31901", "port = 31902");
    DatacenterConfig config = read("eu.conf");
    assertThat(config.host()).isEqualTo("0.0.0.0");
    assertThat(config.admin().orElseThrow().host()).isEqualTo("127.0.0.1");
    Datacenter.start(config).close(); // it would be refused without TLS and users
    try (InputStream in = Files.newInputStream(dir.resolve("secrets/eu.pem"))) {
      X509Certificate certificate =
          (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(in);
      assertThat(certificate.getSubjectAlternativeNames())
          .extracting(name -> String.valueOf(name.get(1)))
          .contains("eu.example", "localhost", "127.0.0.1", "osier://osier/dc/eu");
    }
  }

  @Test
  void init_withAnAuthority_isSignedByIt_andAnotherOneIsNotMadeToJoin() {
    Path given = dir.resolve("given");
    assertThat(secure("us", "--join=127.0.0.1:1", "--secrets=" + given)).isEqualTo(1);
    assertThat(given).doesNotExist();
    CertificateMaker.authority(given, "osier", 2);
    assertThat(secure("eu", "--secrets=" + given, "--user=root")).isZero();
    assertThat(given.resolve("root.password")).exists();
    Datacenter.start(read("eu.conf")).close(); // the key fits the authority
  }

  @Test
  void joining_takesMembersAndWhatFilesName_andOnlyTheAskedOnesAddressIsGuessed() throws Exception {
    ObjectMapper json = new ObjectMapper();
    FoundCluster found =
        FoundCluster.of(
            "mars",
            new HostPort("h", 7400),
            "eu",
            json.readTree(
                """
                [{"name": "eu", "state": "active", "address": ""},
                 {"name": "us", "state": "active", "address": ""},
                 {"name": "ap", "state": "joining", "address": "ap.example:7401"},
                 {"name": "mars", "state": "joining", "address": "mars.example:7401"},
                 {"name": "sa", "state": "removed", "address": "sa.example:7401"}]
                """),
            json.readTree(
                """
                [{"name": "bank", "from": "file", "consistency": "causal", "sla": "500ms",
                  "partitions": "1", "replicas": "ap,eu", "limits.key": "100B"},
                 {"name": "run", "from": "command", "sla": "1000ms"}]
                """));
    assertThat(found.peers())
        .containsExactly(Map.entry("ap", "ap.example:7401"), Map.entry("eu", "h:7401"));
    KeyspacePolicy policy =
        ConfigReader.read(
                "it",
                "osier { dc = ap, store.dir = \"\", peers { eu = \"h:1\" }, keyspaces {\n"
                    + found.keyspaceLines("")
                    + "} }",
                Map.of())
            .keyspaces()
            .getFirst();
    assertThat(policy.name()).isEqualTo("bank");
    assertThat(policy.consistency()).isEqualTo(KeyspacePolicy.Consistency.CAUSAL);
    assertThat(policy.sla()).isEqualTo(Duration.ofMillis(500));
    assertThat(policy.partitions()).isOne();
    assertThat(policy.replicas()).containsExactlyInAnyOrder("ap", "eu");
    assertThat(policy.limits().keyBytesMax()).isEqualTo(100);
    assertThat(found.keyspaces()).containsOnlyKeys("bank");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--keyspace=_osier", "--peers=us=nowhere"})
  void init_withTlsAndWhatNoServerTakes_makesNothing(String option) {
    assertThat(secure("eu", option)).isEqualTo(1);
    assertThat(dir).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--host=eu.example",
        "--secrets=s",
        "--tls --host=a:1",
        "--port=65534",
        "--join=a:b",
        "--tls --join=a:b",
        "--tls --peers=us",
        "--tls --user=../admin",
        "--join=a --peers=us=a:1",
        "--join=a --keyspace=k",
      })
  void init_withOptionsThatDoNotFit_isWrongUsage_andMakesNothing(String options) {
    String file = "--dc=eu --file=" + dir.resolve("eu.conf") + ' ' + options;
    assertThat(init(file.split(" "))).isEqualTo(2);
    assertThat(dir).isEmptyDirectory();
  }
}
