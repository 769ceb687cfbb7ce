package io.osier.datacenter.config;

import static io.osier.datacenter.config.ConfigReaderTest.GOOD;
import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is said of settings that are wrong. */
final class WrongConfigTest {
  /** Of every setting there is, whatever is asked for: it is taken, or named with what may be. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "9223372036854775807d",
        "99999999999999999999s",
        "-1d",
        "0s",
        "1ns",
        "1e400s",
        "forever",
        "9223372036854775807B",
        "99999999999YiB",
        "-1B",
        "9223372036854775807",
        "-2147483649",
        "0"
      })
  void endOfARange_isTaken_orRefusedByName(String end) {
    Config reference = ConfigFactory.parseResources("osier-reference.conf");
    for (Map.Entry<String, ConfigValue> setting : reference.entrySet()) {
      boolean isFile = setting.getKey().startsWith("osier.tls.");
      if (isFile || setting.getValue().valueType() == ConfigValueType.LIST) {
        continue;
      }
      String key = setting.getKey();
      try {
        ConfigReader.read("f", GOOD + key + " = \"" + end + "\"", Map.of());
      } catch (OsierException e) {
        assertThat(e.code()).as("%s = %s: %s", key, end, e).isEqualTo(ErrorCode.CONFIGURATION);
        assertThat(e).hasMessageContaining(key.substring(key.lastIndexOf('.') + 1));
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "osier.dc = \"1bad\"                          | osier.dc        | 1 to 63",
        "osier.listen.client-port = 70000             | client-port     | 65535",
        "osier.listen.client-port = abc               | client-port     | whole number",
        "osier.keyspaces.shop.sla = 2h                | shop.sla        | 3600000ms",
        "osier.keyspaces.shop.sla = soon              | shop.sla        | for example 2s",
        "osier.keyspaces.shop.stale-reads = 5s        | stale-reads     | 10 s to 24 h",
        "osier.keyspaces.shop.stale-reads = 25h       | stale-reads     | 86400000ms",
        "osier.keyspaces.shop.propagation = magic     | propagation     | one of op, state,"
            + " adaptive",
        "osier.keyspaces.shop.partitions = 0          | partitions      | 1 to 256",
        "osier.keyspaces.shop.hash = tags             | hash            | key, tag",
        "osier.keyspaces.shop.consistency = strong    | consistency     | one of session, causal",
        "osier.keyspaces.other { consistency = causal, partitions = 2 } | other | a causal keyspace"
            + " has 1 partition, not 2",
        "osier.keyspaces.shop { replicas = [eu], deny = [\"1!\"] } | shop | 1 to 63 of A-Z a-z 0-9"
            + " _ - and start with a letter, not '1!'",
        "osier.keyspaces.shop.replicas = [eu, us, eu] | shop.replicas | has 'eu' twice",
        "osier.keyspaces.shop { replicas = [eu], deny = [us, us] } | shop.deny | has 'us' twice",
        "osier.keyspaces.shop { replicas = [eu], allow = [eu, eu] } | shop.allow | 'eu' twice",
        "osier.keyspaces.shop.replicas = [mars]       | replicas        | [eu, us]",
        "osier.keyspaces.shop.limits.value = 1GiB     | limits.value    | 16777216B",
        "osier.keyspaces.shop.holders-min = null      | holders-min     | null",
        "osier.keyspaces.\"1x\" { sla = 1s }          | 1x              | 1 to 64",
        "osier.keyspaces.\"_osier\" {}               | _osier          | start with a letter",
        "osier.peers.ap = \"nowhere\"                 | osier.peers.ap  | host:port",
        "osier.trace.sample = 2                       | trace.sample    | 0.0 to 1.0",
        "osier.trace.sample = few                     | trace.sample    | 0.0 to 1.0",
        "osier.trace.sample = 0.5                     | trace.endpoint  | because"
            + " osier.trace.sample is above 0",
        "osier.trace.endpoint = \"collector:4318\"     | trace.endpoint  | http://collector:4318",
        "osier.trace.endpoint = \"ftp://collector\"    | trace.endpoint  | http://collector:4318",
        "osier.trace.endpoint = \"http://u:p@host\"    | trace.endpoint  | http://collector:4318",
        "osier.trace.keys = some                      | trace.keys      | true or false",
        "osier.adaptation.policy = guess              | policy          | ratio, cost",
        "osier.streams.window = 1KiB                  | window          | 65536B",
        "osier.listen.cleint-port = 1                 | cleint-port     | osier.listen.client-port",
        "osier.keyspaces.shop.slaa = 1s               | slaa            |"
            + " osier.keyspaces.shop.sla",
        "osier.queue = -1                             | osier.queue     | 1 to",
        "osier.queue = 1.5                            | osier.queue     | whole number",
        "osier.keyspaces.shop.partitions = 1.5        | partitions      | whole number",
        "osier.nothing = 3                            | osier.nothing   | osier-reference.conf",
        "osier.users.ann.food = 3                     | users.ann.food  | osier-reference.conf",
        "osier.listen = 7400                          | osier.listen    | a block of settings",
        "osier.users = admin                          | osier.users     | a block of settings",
        "osier.keyspaces = [a, b]                     | osier.keyspaces | a block of settings",
        "osier.keyspaces.other = 2s                   | keyspaces.other | a block of settings",
        "osier.redis.databases = shop                 | redis.databases | a block of settings",
        "osier = 5                                    | osier           | a block of settings",
        "osier.peers.\"a.b\" = \"h:1\"                | \"a.b\"          | a datacenter's name",
        "osier { dc = eu                              | f               | f",
        "osier.keyspaces.shop.sla = 2                 | shop.sla        | with its unit",
        "osier.keyspaces.shop.sla = \"2.5\"           | shop.sla        | with its unit",
        "osier.streams.retry = 1000                   | streams.retry   | with its unit",
        "osier.listen.peer-port = 7400                | peer-port       | another port than"
            + " osier.listen.client-port",
        "osier.admin { enabled = true, port = 7401 }  | admin.port      | another port than"
            + " osier.listen.peer-port",
        "osier.admin.names = [\"eu.example:7402\"]     | admin.names     | without ports",
        "osier.admin.names = [\"*\"]                   | admin.names     | a list of names",
        "osier.listen.announce = \"eu:0\"             | listen.announce | host or host:port",
        "osier.admin.host = \"\"                       | admin.host      | without a port",
        "osier.peers.ap = \"us.example:7401\"          | osier.peers.    | another address than"
            + " that of",
        "osier.listen.client-connections = many       | client-connec   | whole number",
        "osier.user-limits.connections = 0            | user-limits.con | from 1 to 1000000",
        "osier.user-limits.requests = some            | user-limits.req | whole number",
        "osier.user-limits.bytes = 1KiB               | user-limits.byt | at least 65536B",
        "osier.listen.greeting-timeout = 5            | greeting-time   | with its unit",
      })
  void wrongSetting_isNamedWithWhatWouldBeRight(String line, String key, String allowed) {
    refused(
            ErrorCode.CONFIGURATION,
            () -> ConfigReader.read("f.conf", GOOD + line + "\n", Map.of()))
        .hasMessageContaining("f.conf")
        .hasMessageContaining(key)
        .hasMessageContaining(allowed);
  }

  @Test
  void valuesInThePlaceOfBlocks_areReportedTogether_andEmptyBlocksAreNoMistakes() {
    String text = "osier {\n listen = 1\n store = 2\n peers { \"a.b\" = \"h:1\" }\n tls {}\n}\n";
    refused(ErrorCode.CONFIGURATION, () -> ConfigReader.read("f.conf", text, Map.of()))
        .hasMessageContaining("line 2: osier.listen must be a block of settings, { … }")
        .hasMessageContaining("line 3: osier.store must be")
        .hasMessageContaining("line 4: osier.peers.\"a.b\" must be")
        .hasMessageContaining("osier.dc must be")
        .hasMessageContaining("4 mistakes");
    assertThat(ConfigReader.read("f.conf", GOOD + "osier { listen {}, admin {} }", Map.of()))
        .isEqualTo(ConfigReader.read("f.conf", GOOD, Map.of()));
  }

  @Test
  void mistakeBesideADefault_doesNotHideTheOthers() {
    String text =
        GOOD
            + "osier { tls.certificate = \"a.pem\", trace.sample = 0.5, users.x.rights = [\"red\"]"
            + " }";
    refused(ErrorCode.CONFIGURATION, () -> ConfigReader.read("f.conf", text, Map.of()))
        .hasMessageContaining("osier.tls.key must be")
        .hasMessageContaining("osier.trace.endpoint must be")
        .hasMessageContaining("'red'");
  }

  @Test
  void fileThatIsNotUtf8_isNamedWithTheLine(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("latin.conf");
    Files.write(
        file, "osier {\n cluster = \"k\u00fcche\" }\n".getBytes(StandardCharsets.ISO_8859_1));
    refused(
            ErrorCode.CONFIGURATION,
            () -> ConfigReader.read(file.toFile(), Map.of(), warning -> {}))
        .hasMessageContaining("latin.conf, line 2: is not UTF-8");
    refused(ErrorCode.CONFIGURATION, () -> ConfigReader.read(dir.toFile(), Map.of(), warning -> {}))
        .hasMessageContaining("is a directory");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "osier.keyspaces.shop { sla = 1s }",
        "osier { keyspaces : {\n # a comment {\n \"shop\" { sla = 1s } } }",
        "osier.keyspaces { \"x\" { replicas = [\"us\", eu] }, shop = {} }",
        "osier { dc = eu, keyspaces.shop = ${osier.keyspace-defaults} {} }",
      })
  void keyspaceGivenTwice_isRefusedWithBothLines(String more) {
    assertThat(DuplicateNames.of(GOOD + more))
        .singleElement()
        .extracting(Throwable::getMessage, InstanceOfAssertFactories.STRING)
        .startsWith("osier.keyspaces.shop is given twice, in lines 5 and");
    assertThatThrownBy(
            () -> ConfigReader.read("f", GOOD + "osier.keyspaces.shop { sla = 1s }", Map.of()))
        .hasMessageContaining("osier.keyspaces.shop is given twice, in lines 5 and 9");
    assertThatThrownBy(() -> ConfigReader.read("f", GOOD + "osier.peers.us = \"b:1\"", Map.of()))
        .hasMessageContaining("osier.peers.us is given twice, in lines 3 and 9");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "osier.keyspaces.shop.sla = 1s\nosier.keyspaces.shop.partitions = 4",
        "osier.keyspaces.shop2 {}\nosier.keyspaces { shop3 { }, shop4 {} }",
        "osier.cluster = \"osier { keyspaces { shop {} } }\"",
        "osier.cluster = \"\"\"osier.keyspaces.shop {}\"\"\"\n"
            + "osier.queue = 10 // keyspaces.shop {}",
        "# osier.keyspaces.shop {}\nosier.keyspaces.shop.replicas = [\n us\n eu ]",
        "osier {\n cluster = a\n}\nosier {\n cluster = b\n}",
        "include \"nothing.conf\"",
      })
  void whatIsGivenOnce_isNotRefused(String more) {
    ConfigReader.read("f", GOOD + more, Map.of());
  }

  @Test
  void allMistakes_areToldAtOnce_withTheirLines() {
    String text =
        """
        osier {
          dc = 1eu
          quue = 5
          peers { us = "us.example" }
          keyspaces {
            shop { slaa = 1s }
            cart { sla = 1, partitions = 0 }
          }
        }
        """;
    refused(
            ErrorCode.CONFIGURATION,
            () -> ConfigReader.read("f.conf", text, Map.of("OSIER_LISTEN_PEER_PORT", "none")))
        .message()
        .startsWith("CONFIGURATION: f.conf has 7 mistakes:\n")
        .contains("\n  line 2: osier.dc must be ")
        .contains("\n  line 3: unknown key 'osier.quue'; did you mean 'osier.queue'?")
        .contains("\n  line 4: osier.peers.us must be ")
        .contains("'osier.keyspaces.shop.slaa'; did you mean 'osier.keyspaces.shop.sla'?")
        .contains("\n  line 7: osier.keyspaces.cart.sla must be a duration")
        .contains("\n  line 7: osier.keyspaces.cart.partitions must be")
        .contains("\n  the environment: osier.listen.peer-port must be")
        .containsOnlyOnce("f.conf");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "osier {⏎  dc = eu⏎  peers { us = \"b:1\"⏎  queue = 5⏎}  | the { in line 3 is never closed",
        "osier {⏎  dc = eu⏎  keyspaces {⏎    shop {}⏎⏎}       | the { in line 3 is never closed",
        "osier {⏎  dc = eu                                      | the { in line 1 is never closed",
        "osier {⏎  dc = eu⏎}⏎}                                | the } in line 4 closes nothing",
        "osier { users.a { rights = [\"read shop\" } }          | the } in line 1 closes nothing",
      })
  void missingBrace_isNamedWithItsLine(String text, String problem) {
    assertThatThrownBy(() -> ConfigReader.read("f.conf", text.replace('⏎', '\n'), Map.of()))
        .hasMessageStartingWith("CONFIGURATION: f.conf: " + problem);
  }

  @Test
  void fileThatIsNoConfiguration_isNamedOnce(@TempDir Path dir) throws IOException {
    Path file = Files.writeString(dir.resolve("eu.conf"), "osier.dc = eu\nosier.queue = = 5\n");
    assertThatThrownBy(() -> ConfigReader.read(file.toFile(), Map.of(), warning -> {}))
        .message()
        .startsWith("CONFIGURATION: " + file + ": line 2: ")
        .containsOnlyOnce("eu.conf");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "247 | osier.store.cache = 256MiB              | osier.store.cache = 256MiB | 123MiB",
        "247 | osier.listen.client-connections = 10000 | client-connections = 10000 | 988",
        "100 | osier.keyspaces.big.limits.object = 60MiB | big.limits.object = 60MiB | 33MiB",
        "100 | osier.keyspaces.big.limits.value = 16MiB  | limits.value = 16MiB     | 12MiB",
        "247 | osier.memory.trails = 110MiB            | osier.memory (its sum)     | 123MiB",
        "247 | osier.streams.window = 512MiB           | osier.streams.window       | 61MiB",
      })
  void settingThatDoesNotFitInTheHeap_isNamedWithWhatWould(
      int heapMebibytes, String line, String key, String max) {
    MemoryPlan memory = new MemoryPlan((long) heapMebibytes << 20);
    assertThatThrownBy(() -> ConfigReader.read("f.conf", GOOD + line, Map.of(), memory))
        .isInstanceOf(OsierException.class)
        .hasMessageContaining("f.conf")
        .hasMessageContaining(key)
        .hasMessageContaining("at most " + max)
        .hasMessageContaining("-Xmx");
  }

  @Test
  void missingParts_areNamed() {
    assertThat(ConfigReader.read("f", "osier.dc = eu", Map.of()).keyspaces())
        .as("all may be created at run time")
        .isEmpty();
    assertThatThrownBy(() -> ConfigReader.read("f", "", Map.of())).hasMessageContaining("osier.dc");
    assertThatThrownBy(() -> ConfigReader.read(new File("nowhere.conf"), Map.of(), warning -> {}))
        .hasMessageContaining("nowhere.conf");
  }
}
