package io.osier.datacenter.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.LinkWindows;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which keyspaces there are. */
final class KeyspacesTest {
  private static final DatacenterConfig CONFIG =
      ConfigReader.read(
          "test",
          "osier { dc = eu, store.dir = \"\", peers { us = \"127.0.0.1:1\" },"
              + " keyspaces { shop { replicas = [eu, us] }, own { replicas = [eu] } } }",
          Map.of());

  private static Keyspaces keyspaces() {
    return new Keyspaces(
        new Keyspaces.Around(
            CONFIG,
            new ReplicaId("eu", 1),
            Optional.empty(),
            Runnable::run,
            false,
            LinkWindows.NONE,
            Traces.OFF,
            (to, keyspace, partition, frame) -> {},
            dc -> 0,
            failure -> {}));
  }

  /** They are in every greeting. */
  @Test
  void whatWasDropped_isNamedToNobody_andNotKept() {
    Keyspaces keyspaces = keyspaces();
    keyspaces.open(CONFIG.keyspaces());
    keyspaces.partitions().forEach(PartitionRunner::start);
    try {
      List<String> before = keyspaces.fingerprints("us");
      assertThat(before).hasSize(1).first().asString().startsWith("shop{");
      for (int i = 0; i < 100; i++) {
        KeyspacePolicy policy = KeyspacePolicy.session("x" + i % 3, Duration.ofMillis(500));
        keyspaces.open(policy, "creation" + i, true, List.of());
        keyspaces.start(policy.name());
        assertThat(keyspaces.fingerprints("us"))
            .hasSize(2)
            .last()
            .asString()
            .startsWith(policy.name() + "{created=creation" + i + ",");
        keyspaces.drop(policy.name(), () -> {});
        assertThat(keyspaces.fingerprints("us")).isEqualTo(before);
      }
    } finally {
      Keyspaces.stop(keyspaces.partitions().toList());
      keyspaces.endWatching();
    }
  }
}
