package io.osier.datacenter.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.adaptation.PlacementPolicy;
import io.osier.core.KeyspacePolicy;
import io.osier.core.PlacementRules;
import io.osier.core.net.HostPort;
import io.osier.core.net.ListenAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

final class ConfigReaderTest {
  static final String GOOD =
      """
      osier {
        dc = eu
        peers { us = "us.example:7401" }
        keyspaces {
          shop { sla = 5s, propagation = state }
          logs {}
        }
      }
      """;

  @Test
  void file_overridesTheReference() {
    DatacenterConfig config = ConfigReader.read("f", GOOD, Map.of());
    assertThat(config.dc()).isEqualTo("eu");
    assertThat(config.clientPort()).isEqualTo(7400);
    assertThat(config.peers()).containsOnlyKeys("us");
    assertThat(config.keyspaces().stream().map(KeyspacePolicy::name))
        .containsExactly("logs", "shop");
    KeyspacePolicy shop = config.keyspaces().get(1);
    assertThat(shop.staleReads()).isEqualTo(Duration.ZERO);
    Map<String, String> stale = Map.of("OSIER_KEYSPACE_DEFAULTS_STALE_READS", "5m");
    assertThat(ConfigReader.read("f", GOOD, stale).keyspaces())
        .allMatch(k -> k.staleReads().equals(Duration.ofMinutes(5)));
    assertThat(shop.sla()).isEqualTo(Duration.ofSeconds(5));
    assertThat(shop.propagation()).isEqualTo(KeyspacePolicy.Propagation.STATE);
    assertThat(shop.partitions()).isEqualTo(2);
    assertThat(config.keyspaces().get(0).sla()).isEqualTo(Duration.ofSeconds(2));
  }

  /** As the log shows them: whoever copies that into a file has the same datacenter. */
  @Test
  void settings_areShownAsAnOperatorWritesThem() {
    DatacenterConfig config =
        ConfigReader.read("f", GOOD, Map.of("OSIER_LISTEN_CLIENT_PORT", "7500"));
    assertThat(config.toString())
        .contains("dc = eu", "keyspaces.shop.sla = 5s", "listen.client-port = 7500")
        .doesNotContain("[", "store.cache");
    assertThat(ConfigReader.read("g", "osier { " + config + " }", Map.of())).isEqualTo(config);
    DatacenterConfig plain =
        ConfigReader.read("h", "osier { dc = eu, keyspaces { shop {} } }", Map.of());
    assertThat(plain).hasToString("dc = eu, keyspaces.shop = {}");
    assertThat(KeyspaceSettings.text(plain.keyspaces().getFirst()))
        .startsWith(
            "consistency = session, hash = key, history = 10s, limits.key = 1KiB,"
                + " limits.object = 16MiB")
        .endsWith(", propagation = adaptive, replicas = all, sla = 2s");
  }

  @Test
  void traces_areOffUnlessBothShareAndEndpointAreGiven() {
    assertThat(ConfigReader.read("f", GOOD, Map.of()).trace()).isEqualTo(TraceSettings.OFF);
    TraceSettings on =
        ConfigReader.read(
                "f",
                GOOD,
                Map.of(
                    "OSIER_TRACE_SAMPLE", "0.001", "OSIER_TRACE_ENDPOINT", "http://collector:4318"))
            .trace();
    assertThat(on.sample().isNone()).isFalse();
    assertThat(on.endpoint()).contains(URI.create("http://collector:4318"));
    assertThat(on.keys()).isFalse();
  }

  @Test
  void environment_overridesTheFile() {
    DatacenterConfig config =
        ConfigReader.read(
            "f",
            GOOD,
            Map.of(
                "OSIER_LISTEN_CLIENT_PORT",
                "9000",
                "OSIER_DC",
                "ap",
                "OSIER_KEYSPACE_DEFAULTS_SLA",
                "1s"));
    assertThat(config.clientPort()).isEqualTo(9000);
    assertThat(config.dc()).isEqualTo("ap");
    assertThat(config.keyspaces().get(0).sla()).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  void adminPort_isWhereClientsConnect_andKnowsItsNames_unlessSaidOtherwise() {
    String enabled =
        GOOD
            + "osier.admin.enabled = true\n"
            + "osier.listen.host = Eu.Internal\n"
            + "osier.insecure = true\n";
    AdminSettings usual =
        ConfigReader.read("f", enabled + "osier.peers.eu = \"eu.example:1\"", Map.of())
            .admin()
            .orElseThrow();
    assertThat(usual.host()).isEqualTo("Eu.Internal");
    assertThat(usual.port()).isEqualTo(7402);
    assertThat(usual.names())
        .contains("eu", "eu.internal", "eu.example")
        .doesNotContain("us.example");
    AdminSettings other =
        ConfigReader.read(
                "f",
                enabled,
                Map.of("OSIER_ADMIN_HOST", "127.0.0.1", "OSIER_ADMIN_NAMES", "A.example, b"))
            .admin()
            .orElseThrow();
    assertThat(other.host()).isEqualTo("127.0.0.1");
    assertThat(other.names()).contains("a.example", "b", "eu", "eu.internal");
    assertThat(ConfigReader.read("f", GOOD, Map.of()).admin()).isEmpty();
  }

  /** What a datacenter says of itself must lead others there: 0.0.0.0 and localhost do not. */
  @Test
  void announced_isWhereOthersReachIt() {
    String anywhere = GOOD + "osier { insecure = true, listen.host = 0.0.0.0 }\n";
    assertThat(announced(GOOD)).isEqualTo(new HostPort("127.0.0.1", 0));
    assertThat(announced(GOOD + "osier { insecure = true, listen.host = eu.example }"))
        .isEqualTo(new HostPort("eu.example", 0));
    assertThat(announced(anywhere + "osier.peers.eu = \"eu.example:1\""))
        .isEqualTo(new HostPort("eu.example", 0));
    assertThat(announced(anywhere + "osier.admin.names = [a.example, b.example]"))
        .isEqualTo(new HostPort("a.example", 0));
    assertThat(announced(anywhere).host()).isEqualTo(ListenAddress.machine());
    assertThat(announced(GOOD + "osier.listen.announce = \"eu.example:7410\""))
        .isEqualTo(new HostPort("eu.example", 7410));
    assertThat(announced(GOOD + "osier.listen.announce = eu.example"))
        .isEqualTo(new HostPort("eu.example", 0));
  }

  private static HostPort announced(String file) {
    return ConfigReader.read("f", file, Map.of()).announced();
  }

  @Test
  void hostInBrackets_isTheAddress() {
    DatacenterConfig read =
        ConfigReader.read(
            "f",
            GOOD + "osier.admin.enabled = true\nosier.listen.host = \" [::1] \"",
            Map.of("OSIER_ADMIN_HOST", "127.0.0.1"));
    assertThat(read.host()).isEqualTo("::1");
    assertThat(read.admin().orElseThrow().names()).contains("::1", "127.0.0.1");
  }

  @Test
  void textThatIsABlock_isReadToo() {
    assertThat(DuplicateNames.of("{ osier { keyspaces { a {}, b {} } } }")).isEmpty();
    assertThat(DuplicateNames.of("{\"osier\":{\"keyspaces\":{\"a\":{},\n\"a\":{}}}}"))
        .singleElement()
        .extracting(Throwable::getMessage, InstanceOfAssertFactories.STRING)
        .contains("in lines 1 and 2");
  }

  @Test
  void objectLimit_leavesRoomForWhatAllDatacentersDoAtTheSameTime() {
    String nine = "";
    for (int i = 0; i < 7; i++) {
      nine += "osier.peers.p" + i + " = \"p" + i + ".example:7401\"\n";
    }
    String config = GOOD + nine + "osier.keyspaces.shop.limits.object = 60MiB\n";
    assertThatThrownBy(() -> ConfigReader.read("f.conf", config, Map.of()))
        .hasMessageContaining("shop.limits.object")
        .hasMessageContaining("59652323B");
  }

  @Test
  void lawsOfAKeyspace_areRead_andItsReplicasMustKeepThem() {
    String pair = GOOD + "osier.keyspaces.shop.replicas = [eu, us]\n";
    String laws =
        """
        osier.keyspaces.shop.placement = adaptive
        osier.keyspaces.shop.holders-min = 2
        osier.keyspaces.shop.allow = [us, eu]
        """;
    DatacenterConfig config =
        ConfigReader.read(
            "f", pair + laws + "osier.placement { horizon = 1h, storage-worth = 5 }", Map.of());
    assertThat(config.keyspaces().get(1).rules())
        .isEqualTo(
            new PlacementRules(
                PlacementRules.Placement.ADAPTIVE, 2, List.of("eu", "us"), List.of()));
    assertThat(config.keyspaces().getFirst().rules()).isEqualTo(PlacementRules.NONE);
    assertThat(config.placement().policy()).isEqualTo(new PlacementPolicy(100, 3600, 5));
    assertThatThrownBy(
            () -> ConfigReader.read("f", pair + "osier.keyspaces.shop.deny = [us]", Map.of()))
        .hasMessageContainingAll("shop", "deny = us", "[us]", "remove them");
    assertThatThrownBy(
            () -> ConfigReader.read("f", pair + "osier.keyspaces.shop.holders-min = 3", Map.of()))
        .hasMessageContainingAll("shop", "at least 3", "[eu, us]");
    assertThatThrownBy(
            () -> ConfigReader.read("f", GOOD + "osier.keyspaces.shop.allow = [eu]", Map.of()))
        .hasMessageContainingAll("shop", "all datacenters hold it");
    assertThatThrownBy(
            () -> ConfigReader.read("f", GOOD + "osier.placement.horizon = 8d", Map.of()))
        .hasMessageContaining("placement.horizon");
  }

  @Test
  void durationOfZero_needsNoUnit() {
    DatacenterConfig config =
        ConfigReader.read("f", GOOD + "osier.keyspaces.shop.sla = 0", Map.of());
    assertThat(config.keyspaces().get(1).sla()).isZero();
  }

  @Test
  void keyspaces_ofAllNamesThatThereMayBe_haveTheirSettings() {
    DatacenterConfig config =
        ConfigReader.read(
            "f",
            "osier { dc = eu, keyspaces { \"a.b\" { sla = 1s, limits.value = 1MiB }, \"c.d\" {},"
                + " e-f { sla = 3s }, g_ { limits { value = 2MiB } } } }",
            Map.of());
    assertThat(config.keyspaces().stream().map(KeyspacePolicy::name))
        .containsExactly("a.b", "c.d", "e-f", "g_");
    assertThat(config.keyspaces().get(0).sla()).isEqualTo(Duration.ofSeconds(1));
    assertThatThrownBy(
            () -> ConfigReader.read("f", "osier { dc = eu, keyspaces.\"a.b\".slo = 1s }", Map.of()))
        .hasMessageContaining("a.b")
        .hasMessageContaining("did you mean")
        .hasMessageContaining("sla");
  }

  @Test
  void portsOfZero_areDifferentOnes() {
    String ports = "osier.listen { client-port = 0, peer-port = 0 }";
    assertThat(ConfigReader.read("f", GOOD + ports, Map.of()).peerPort()).isZero();
  }

  @Test
  void defaults_fitInTheHeapOfASmallMachine() {
    MemoryPlan small = new MemoryPlan(247L << 20); // what a machine of 1 GiB gives
    DatacenterConfig config = ConfigReader.read("f", GOOD, Map.of(), small);
    assertThat(3 * config.store().cacheBytes() + small.requestBytes() + config.memory().sum())
        .isLessThan(small.heapBytes());
    assertThat(small.division(config))
        .startsWith(
            "of a heap of 247MiB: cache 30MiB, requests 30MiB, commands 15MiB, trails (own updates"
                + " that a peer may lack) 30MiB")
        .doesNotContain("\n");
    assertThat(config.clients().connectionsMax()).isBetween(500, 1_000);
    DatacenterConfig large = ConfigReader.read("f", GOOD, Map.of(), new MemoryPlan(8L << 30));
    assertThat(large.store().cacheBytes()).isEqualTo(256 << 20);
    assertThat(large.clients().connectionsMax()).isEqualTo(1_000);
  }

  @Test
  void userLimits_leaveSomethingForOthers_unlessTheyAreGiven() {
    MemoryPlan memory = new MemoryPlan(1L << 30);
    UserLimits auto =
        ConfigReader.read("f", GOOD + "osier.queue = 1000", Map.of(), memory).userLimits();
    assertThat(auto)
        .isEqualTo(
            new UserLimits(
                new UserLimits.Limit(750, false),
                new UserLimits.Limit(750, false),
                new UserLimits.Limit(96 << 20, false)));
    String given = "osier.user-limits { connections = 5000, requests = 7, bytes = 2MiB }";
    assertThat(ConfigReader.read("f", GOOD + given, Map.of(), memory).userLimits())
        .isEqualTo(
            new UserLimits(
                UserLimits.Limit.given(5_000),
                UserLimits.Limit.given(7),
                UserLimits.Limit.given(2 << 20)));
    assertThatThrownBy(
            () ->
                ConfigReader.read("f", GOOD + "osier.user-limits.bytes = 64KiB", Map.of(), memory))
        .hasMessageContaining("osier.user-limits.bytes must be at least osier.keyspaces.")
        .hasMessageContaining("limits.value, 1048576 bytes, not 65536");
  }

  @Test
  void shareOfTheHeap_isDividedEquallyAmongThePartitionsThatUseIt() {
    String text =
        GOOD
            + """
            osier.memory { trails = 8MiB, commands = 80KiB, history = 6MiB }
            osier.keyspaces { a { partitions = 6 }, b { consistency = causal } }
            """;
    DatacenterConfig config = ConfigReader.read("f", text, Map.of(), new MemoryPlan(1L << 30));
    int partitions = config.partitions();
    assertThat(partitions).isGreaterThanOrEqualTo(7);
    assertThat(config.causalPartitions()).isEqualTo(1);
    assertThat(config.memory().streams(partitions).trails()).isEqualTo((8 << 20) / partitions);
    assertThat(config.memory().history()).isEqualTo(6 << 20);
    assertThat(config.memory().commands()).isEqualTo(80 << 10);
  }

  @Test
  void ownNameAmongThePeers_isLeftOut() {
    assertThat(ConfigReader.read("f", GOOD + "osier.peers.eu = \"a:1\"", Map.of()).peers())
        .containsOnlyKeys("us");
  }
}
