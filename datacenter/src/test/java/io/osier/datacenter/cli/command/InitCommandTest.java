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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
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
        "us=a:1,us=b:1   | 1",
        "us=a:1,ap=a:1   | 1",
        "us              | 2",
        "eu=a:1          | 2",
      })
  void init_withWrongPeers_writesNothing(String peers, int exit) {
    Path file = dir.resolve("eu.conf");
    assertThat(init("--dc=eu", "--peers=" + peers, "--file=" + file)).isEqualTo(exit);
    assertThat(file).doesNotExist();
  }
}
