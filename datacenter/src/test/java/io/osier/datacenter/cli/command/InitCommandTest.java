package io.osier.datacenter.cli.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
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
    assertThat(config.store().dir().orElseThrow()).isEqualTo(Path.of("osier-data", "eu"));
    assertThat(warnings).isEmpty();
  }

  @Test
  void init_withAnExistingFile_leavesIt() throws Exception {
    Path file = Files.writeString(dir.resolve("eu.conf"), "mine");
    assertThat(init("--dc=eu", "--file=" + file)).isEqualTo(1);
    assertThat(file).hasContent("mine");
  }

  @Test
  void init_withAPeerThatIsNoAddress_writesNothing() {
    Path file = dir.resolve("eu.conf");
    assertThat(init("--dc=eu", "--peers=us=nowhere", "--file=" + file)).isEqualTo(1);
    assertThat(file).doesNotExist();
  }

  @Test
  void serverWithoutAFile_isOneDatacenterOnLoopbackWithAPageAndAKeyspace() {
    DatacenterConfig config =
        ConfigReader.read(
            StarterConfig.SOURCE, StarterConfig.text(dir.resolve("a \"b\"").toString()), Map.of());
    assertThat(config.host()).isEqualTo("127.0.0.1");
    assertThat(config.keyspaces()).extracting(KeyspacePolicy::name).containsExactly("default");
    assertThat(config.store().dir()).contains(dir.resolve("a \"b\"").resolve("local"));
    assertThat(config.admin()).isNotEmpty();
    assertThat(StarterConfig.whatNext(config, 7400, 7402))
        .contains("http://127.0.0.1:7402", "--connect localhost:7400", "a \"b\"");
    assertThat(ConfigReader.read("memory", StarterConfig.text(""), Map.of()).store().dir())
        .isEmpty();
  }
}
