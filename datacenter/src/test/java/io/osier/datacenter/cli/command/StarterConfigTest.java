package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** A server without a configuration file. */
final class StarterConfigTest {
  @TempDir private Path dir;

  private static DatacenterConfig config(String store, Map<String, String> environment) {
    return ConfigReader.read(StarterConfig.SOURCE, StarterConfig.text(store, false), environment);
  }

  private static String whatNext(Map<String, String> environment, OptionalInt adminPort) {
    return StarterConfig.whatNext(config("", environment), 7400, adminPort, OptionalInt.empty());
  }

  @Test
  void serverWithoutAFile_isOneDatacenterOnLoopbackWithAPageAndAKeyspace() {
    DatacenterConfig config = config(dir.resolve("a \"b\"").toString(), Map.of());
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.keyspaces()).extracting(KeyspacePolicy::name).containsExactly("default");
    assertThat(config.store().dir()).contains(dir.resolve("a \"b\"").resolve("local"));
    assertThat(config.admin()).isNotEmpty();
    assertThat(StarterConfig.whatNext(config, 7400, OptionalInt.of(7402), OptionalInt.empty()))
        .contains(
            "for this machine alone", "http://127.0.0.1:7402\n", "127.0.0.1:7400 ", "a \"b\"");
    assertThat(config("", Map.of()).store().dir()).isEmpty();
  }

  @Test
  void whatNext_withWhatTheEnvironmentSets_saysWhatIsSo() {
    assertThat(whatNext(Map.of("OSIER_ADMIN_ENABLED", "false"), OptionalInt.empty()))
        .contains("none (osier.admin.enabled = false)")
        .doesNotContain("http");
    Map<String, String> open = Map.of("OSIER_LISTEN_HOST", "0.0.0.0", "OSIER_INSECURE", "true");
    assertThat(whatNext(open, OptionalInt.of(1)))
        .contains("osier.listen.host = 0.0.0.0", "http://localhost:1\n", "localhost:7400 ")
        .doesNotContain("alone");
    assertThat(whatNext(Map.of("OSIER_LISTEN_HOST", "::1"), OptionalInt.of(1)))
        .contains("for this machine alone", "[::1]:7400 ");
    Map<String, String> tls =
        Map.of("OSIER_TLS_CERTIFICATE", "a", "OSIER_TLS_KEY", "b", "OSIER_TLS_AUTHORITIES", "c");
    assertThat(whatNext(tls, OptionalInt.of(1))).contains("https://127.0.0.1:1", "--authorities ");
  }

  /** What is warned of. */
  private static List<String> warnings(Map<String, String> environment, String... arguments) {
    ServerCommand server = new ServerCommand(environment);
    new CommandLine(server).parseArgs(arguments);
    List<String> warnings = new ArrayList<>();
    server.configuration(warnings);
    return warnings;
  }

  @Test
  void dirAndTheEnvironment_saysWhichOfThemHolds() {
    String there = dir.resolve("there").toString();
    assertThat(warnings(Map.of(), "--dir", there)).isEmpty();
    assertThat(warnings(Map.of(), "--memory")).isEmpty();
    Map<String, String> environment = Map.of("OSIER_STORE_DIR", there, "OSIER_DC", "eu");
    assertThat(warnings(environment)).isEmpty();
    assertThat(warnings(environment, "--dir", there)).isEmpty();
    for (String[] asked : new String[][] {{"--dir", "here"}, {"--memory"}}) {
      assertThat(warnings(environment, asked))
          .singleElement()
          .asString()
          .startsWith("OSIER_STORE_DIR in the environment overrides --dir")
          .endsWith(Path.of(there, "eu").toString());
    }
    assertThat(warnings(Map.of("OSIER_STORE_DIR", ""), "--dir", there))
        .singleElement()
        .asString()
        .endsWith("in memory");
  }

  @Test
  void serverForRedis_hasItsPortAndOnePartitionInAFolderOfItsOwn() {
    ServerCommand server = new ServerCommand(Map.of());
    new CommandLine(server).parseArgs("--redis");
    DatacenterConfig config = server.configuration(new ArrayList<>());
    assertThat(config.redis()).hasValueSatisfying(r -> assertThat(r.port()).isEqualTo(6379));
    assertThat(config.keyspaces())
        .singleElement()
        .satisfies(keyspace -> assertThat(keyspace.partitions()).isEqualTo(1));
    assertThat(config.store().dir().orElseThrow().toString()).contains(StarterConfig.REDIS_DIR);
    assertThat(StarterConfig.whatNext(config, 7400, OptionalInt.of(7402), OptionalInt.of(6379)))
        .contains("redis-cli -p 6379 ");
    assertThat(config("", Map.of()).redis()).isEmpty();
  }

  @Test
  void wrongUsage_isNamed() {
    assertThatThrownBy(() -> warnings(Map.of(), "--dir", ""))
        .hasMessageContaining("--dir must name a directory");
    assertThatThrownBy(() -> warnings(Map.of(), "--config", "x.conf", "--memory"))
        .hasMessageContaining("for a start without --config");
    assertThatThrownBy(() -> warnings(Map.of(), "--config", "x.conf", "--redis"))
        .hasMessageContaining("osier.listen.redis-port");
    assertThatThrownBy(() -> warnings(Map.of(), "--dir", "x", "--memory"))
        .hasMessageContaining("mutually exclusive");
  }
}
