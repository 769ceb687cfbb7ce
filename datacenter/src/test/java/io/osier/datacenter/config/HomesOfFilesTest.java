package io.osier.datacenter.config;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.PlacementRules;
import io.osier.testing.Refused;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keyspaces with homes in a configuration file. */
final class HomesOfFilesTest {
  private static final String THREE =
      """
      osier.dc = eu
      osier.peers.us = "us.example:7401"
      osier.peers.ap = "ap.example:7401"
      osier.keyspaces.shop {}
      """;

  private static final String CARTS =
      THREE
          + """
          osier.keyspaces {
            carts { homes = [eu, us, ap], replicas = [eu, us], partitions = 3, sla = 1s, deny = [ap] }
            "carts@ap" { replicas = [us, ap], deny = [] }
            "carts@us" { replicas = [us], holders-min = 1, placement = adaptive, allow = [us, ap] }
          }
          """;

  private static Map<String, KeyspacePolicy> read(String text) {
    return ConfigReader.read("f.conf", text, Map.of()).withHomes().stream()
        .collect(Collectors.toMap(KeyspacePolicy::name, Function.identity()));
  }

  private static KeyspacePolicy of(Map<String, KeyspacePolicy> all, String name) {
    return requireNonNull(all.get(name));
  }

  @Test
  void homes_haveWhatTheirKeyspaceHas_andReplicasAndLawsOfTheirOwn() {
    Map<String, KeyspacePolicy> all = read(CARTS);
    assertThat(all).containsOnlyKeys("carts", "carts@ap", "carts@eu", "carts@us");
    assertThat(all.values())
        .allSatisfy(policy -> assertThat(policy.partitions()).isEqualTo(3))
        .allSatisfy(policy -> assertThat(policy.sla()).hasSeconds(1));
    assertThat(all.get("carts@eu")).isEqualTo(of(all, "carts").home("eu"));
    assertThat(of(all, "carts").rules().least()).as("as keyspace create does").isEqualTo(2);
    assertThat(of(all, "carts@ap").replicas()).containsExactly("ap", "us");
    assertThat(of(all, "carts@ap").rules()).isEqualTo(PlacementRules.NONE.pairs());
    assertThat(of(all, "carts@us").rules())
        .isEqualTo(
            new PlacementRules(
                PlacementRules.Placement.ADAPTIVE, 1, List.of("ap", "us"), List.of("ap")));
  }

  @Test
  void keyspacesWithHomes_areNoneThatAreOpenedByTheFile() {
    DatacenterConfig config = ConfigReader.read("f.conf", CARTS, Map.of());
    assertThat(config.keyspaces()).extracting(KeyspacePolicy::name).containsExactly("shop");
    assertThat(config.elsewhere()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "carts.homes = [\"e:u\"]                    | carts.homes must be 1 to 64 names of homes",
        "carts { homes = [eu], consistency = causal } | left out of a causal keyspace",
        "carts { homs = [eu] }                      | did you mean 'osier.keyspaces.carts.homes'",
        "carts { homes = [eu], replicas = [eu, mars] } | of which there are [ap, eu, us]",
        "carts { homes = [eu], replicas = [eu, us], deny = [us] } | remove them from its replicas",
        "carts { homes = [eu] }, \"carts@eu\" { sla = 1s } | sla is of all homes at once",
        "carts { homes = [eu] }, \"carts@eu\" { allow = [eu] } | all datacenters hold it",
        "carts { homes = [eu] }, \"carts@eu\" { alow = [eu] } | did you mean",
        "carts { homes = [eu] }, \"carts@ue\" {} | no such home",
        "carts { homes = [west] }, \"carts@wets\" {} | did you mean 'carts@west'",
        "\"cart@eu\" {} | keyspace 'cart' has no such home",
        "carts { homes = [eu], replicas = [eu] }, \"carts@eu\" { replicas = [mars] } | [ap, eu,"
            + " us]",
        "carts { homes = [eu], replicas = [eu] }, \"carts@eu\" { replicas = [] } | names some",
        "carts { homes = [eu], replicas = [eu] }, \"carts@eu\" { holders-min = 2 } | at least 2",
      })
  void whatIsWrong_isNamed(String keyspaces, String why) {
    assertThatThrownBy(() -> read(THREE + "osier.keyspaces { " + keyspaces + " }"))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining(why)
        .hasMessageContaining("line 5");
  }

  @Test
  void defaultsOfKeyspaces_nameNoHomes() {
    assertThatThrownBy(() -> read(THREE + "osier.keyspace-defaults.homes = [eu]"))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining("a keyspace names its homes itself");
  }

  @Test
  void largeObjects_ofHomesMustFit() {
    assertThatThrownBy(
            () -> read(THREE + "osier.keyspaces.carts { homes = [eu], limits.object = 256MiB }"))
        .is(Refused.with(ErrorCode.CONFIGURATION))
        .hasMessageContaining("carts.limits.object");
  }
}
