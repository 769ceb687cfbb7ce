package io.osier.datacenter.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is given in vain is said; what has an effect, or was not given, is not. */
final class SettingsWithoutEffectTest {
  private static final Set<String> DCS = Set.of("ap", "eu", "us");

  @ParameterizedTest(name = "{0} = {1} beside {2} = {3}: {4}")
  @CsvSource({
    "stale-reads, 60s, replicas, all, stale-reads has no effect: all datacenters hold",
    "stale-reads, 60s, replicas, 'eu,us',",
    "stale-reads, 60s, homes, 'eu,us',",
    "stale-reads, 0s, replicas, all,",
    "history, 30s, consistency, session, history has no effect: only the past of a causal",
    "history, 30s, consistency, causal,",
    "payload, full, sla, 0s, payload has no effect: with sla = 0s",
    "payload, full, propagation, op, payload has no effect: with propagation = op",
    "payload, full, propagation, state,",
    "propagation, state, sla, 0s, propagation has no effect: with sla = 0s",
    "propagation, op, sla, 0s,",
    "sla, 1s, partitions, 1,"
  })
  void setting(String given, String value, String beside, String as, String note) {
    Map<String, String> settings =
        beside.equals("consistency") && as.equals("causal")
            ? Map.of(given, value, beside, as, "partitions", "1")
            : Map.of(given, value, beside, as);
    var policy = KeyspaceSettings.read("shop", settings, DCS);
    var byName = KeyspaceSettings.withoutEffect(KeyspaceSettings.of(policy), Set.of(given));
    assertThat(KeyspaceSettings.withoutEffect(policy))
        .as("of the file")
        .containsExactlyElementsOf(byName);
    if (note == null) {
      assertThat(byName).isEmpty();
    } else {
      assertThat(byName).singleElement().asString().startsWith(note);
    }
    assertThat(KeyspaceSettings.withoutEffect(KeyspaceSettings.of(policy), Set.of("limits.key")))
        .isEmpty();
  }

  @Test
  void staleReads_areInVainFromTheMomentWhenAllHoldIt() {
    Map<String, String> all = Map.of("replicas", "all", "stale-reads", "60000ms");
    assertThat(KeyspaceSettings.withoutEffect(all, Set.of("replicas"))).hasSize(1);
  }
}
