package io.osier.datacenter.control.execution;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.TestShards;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.testing.Faked;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is read of a datacenter that starts with nothing of what others may have altered. */
final class ControlAtStartTest {
  /** Its links, over which nobody is heard. */
  private static final PeerLinks NOBODY =
      Faked.of(
          PeerLinks.class,
          (proxy, method, args) ->
              switch (method.getReturnType().getName()) {
                case "boolean" -> false;
                case "int" -> 0;
                case "long" -> 0L;
                case "java.lang.String" -> "";
                default -> null;
              });

  private static void checkRead(Keyspaces keyspaces, String name) {
    requireNonNull(keyspaces.find(name)).gate().checkRead();
  }

  private static Keyspaces keyspaces(DatacenterConfig config, ReplicaId self) {
    return TestShards.keyspaces(config, self, Optional.empty());
  }

  private static Control control(DatacenterConfig config, ReplicaId self, Keyspaces keyspaces) {
    keyspaces.open(List.of(KeyspacePolicy.control()));
    Control control =
        new Control(config, self, keyspaces, NOBODY, 0, () -> {}, List.of(), users -> {});
    control.recover();
    keyspaces.open(control.beginConfigured());
    return control;
  }

  /**
   * It may have been removed from the holders: an empty answer would be taken for what is there.
   */
  @Test
  void keyspaceOfSome_isNotRead_beforeItIsKnownWhoHoldsIt() {
    DatacenterConfig config =
        ConfigReader.read(
            "test",
            "osier { dc = eu, store.dir = \"\", peers { us = \"127.0.0.1:1\" },"
                + " keyspaces { shop {}, pair { replicas = [eu, us] } } }",
            Map.of());
    ReplicaId self = new ReplicaId("eu", 1);
    Keyspaces keyspaces = keyspaces(config, self);
    try (Control control = control(config, self, keyspaces)) {
      assertThatCode(() -> checkRead(keyspaces, "shop")).doesNotThrowAnyException();
      assertThatThrownBy(() -> checkRead(keyspaces, "pair"))
          .hasMessageStartingWith(
              "UNAVAILABLE: this datacenter has started without data and does not know yet who");
      keyspaces.partitions().forEach(PartitionRunner::start);
      control.start();
      await()
          .atMost(Patience.LIMIT)
          .untilAsserted(
              () -> assertThatCode(() -> checkRead(keyspaces, "pair")).doesNotThrowAnyException());
      assertThat(control.isKnown()).isTrue();
    } finally {
      keyspaces.partitions().forEach(PartitionRunner::tellToStop);
      keyspaces.partitions().forEach(PartitionRunner::stop);
      keyspaces.endWatching();
    }
  }

  @Test
  void whoIsAlone_waitsForNobody() {
    DatacenterConfig config =
        ConfigReader.read(
            "test",
            "osier { dc = eu, store.dir = \"\", keyspaces { own { replicas = [eu] } } }",
            Map.of());
    ReplicaId self = new ReplicaId("eu", 1);
    Keyspaces keyspaces = keyspaces(config, self);
    try (Control control = control(config, self, keyspaces)) {
      assertThat(control.isKnown()).isTrue();
      assertThatCode(() -> checkRead(keyspaces, "own")).doesNotThrowAnyException();
    } finally {
      keyspaces.endWatching();
    }
  }
}
