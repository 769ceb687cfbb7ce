package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.protocol.AdminRequest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** A datacenter joins, and something of it does not work. */
final class JoiningTest {
  private long clock = 1_000;
  private boolean refuses;
  private boolean connected = true;
  private Map<String, Integer> told = Map.of();
  private Map<?, ?> reached = Map.of();

  /** How the ports for clients are reached, where there are some. */
  private final Map<String, String> clients = new HashMap<>();

  /** Of the peer protocol, where it is not 10. */
  private final Map<String, Integer> versions = new HashMap<>();

  /** By datacenter, whether it had nothing to catch up with when it opened a keyspace. */
  private final Map<String, Boolean> first = new HashMap<>();

  private ControlPlane plane(OsierCopy copy, SortedMap<String, Optional<String>> file) {
    ControlHost host =
        new StillHost(copy.replica().dc(), copy) {
          @Override
          public void open(
              KeyspacePolicy policy, String created, boolean isFirst, List<String> awaited) {
            if (refuses) {
              throw new OsierException(ErrorCode.STORE_FULL, "the disk is full");
            }
            first.put(dc, isFirst);
          }

          @Override
          public void setPeers(ControlHost.Peers changed) {}

          @Override
          public void setProtocols(SortedMap<String, Integer> protocols) {
            told = new HashMap<>(protocols);
          }

          @Override
          public void setClients(SortedMap<String, String> addresses) {
            reached = new HashMap<>(addresses);
          }

          @Override
          public int protocolMin(String name) {
            return name.length() > 16 ? 10 : 9;
          }

          @Override
          public int protocol(String name) {
            return versions.getOrDefault(name, 10);
          }

          @Override
          public String clients() {
            return clients.getOrDefault(dc, ""); // no port yet
          }

          @Override
          public boolean isConnected(String name) {
            return connected;
          }
        };
    return new ControlPlane(copy.replica().dc(), file, Map.of(), () -> ++clock, host);
  }

  private static SortedMap<String, Optional<String>> file(String... names) {
    SortedMap<String, Optional<String>> file = new TreeMap<>();
    for (String name : names) {
      file.put(name, Optional.of(name + ":1"));
    }
    return file;
  }

  private static AdminRequest.Administer command(
      String subject, String action, String name, Map<String, String> settings) {
    return new AdminRequest.Administer(subject, action, name, new TreeMap<>(settings));
  }

  private static String state(ControlPlane of, String name) {
    return of.administerDatacenters(command("dc", "list", "", Map.of()), "ada").stream()
        .filter(v -> v.name().equals(name))
        .findFirst()
        .orElseThrow()
        .state();
  }

  /** It choked on what such a one said, and on what others said of it. */
  @Test
  void longName_isAddedOnceTheOldestIsUpgraded_andARefusalIsRetried() {
    ControlPlane plane =
        plane(new OsierCopy(new ReplicaId("eu", 1), () -> ++clock), file("eu", "us"));
    AdminRequest.Administer add =
        command("dc", "add", "northamerica-northeast1", Map.of("address", "na:1"));
    versions.put("us", 9);
    assertThatThrownBy(() -> plane.administerDatacenters(add, "ada"))
        .hasMessageContainingAll("'us' speaks version 9", "northamerica-northeast1")
        .extracting(e -> ((OsierException) e).code().retryable())
        .isEqualTo(true);
    plane.administerDatacenters(command("dc", "add", "za", Map.of("address", "za:1")), "ada");
    versions.put("us", 10);
    plane.administerDatacenters(add, "ada");
    assertThat(state(plane, "northamerica-northeast1")).isEqualTo("joining");
  }

  @Test
  void eachTellsTheVersionThatItSpeaks_andAgainWhenItIsAnother() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);
    versions.put("us", 9);
    ControlPlane former = plane(us, file("eu", "us"));
    ControlPlane plane = plane(eu, file("eu", "us"));
    former.look();
    eu.hear(us);
    plane.look();
    plane.look();
    assertThat(told).containsExactlyInAnyOrderEntriesOf(Map.of("eu", 10, "us", 9));
    versions.put("us", 11);
    plane(us, file("eu", "us")).look();
    eu.hear(us);
    plane.look();
    assertThat(told).containsExactlyInAnyOrderEntriesOf(Map.of("eu", 10, "us", 11));
    assertThat(plane.administerDatacenters(command("dc", "list", "", Map.of()), "ada"))
        .as("the configuration files count all the same")
        .allMatch(v -> v.fromFile());
  }

  /** By the time that somebody needs the advice, who is meant may be silent. */
  @Test
  void eachTellsWhereItsClientsConnect_andAgainWhenThatIsElsewhere() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);
    ControlPlane other = plane(us, file("eu", "us"));
    ControlPlane plane = plane(eu, file("eu", "us"));
    other.look();
    eu.hear(us);
    plane.look();
    assertThat(reached).as("no port is bound yet").isEmpty();
    clients.putAll(Map.of("eu", "eu.example:7400", "us", "us.example:7400"));
    other.look();
    eu.hear(us);
    plane.look();
    plane.look();
    assertThat(reached).isEqualTo(Map.of("eu", "eu.example:7400", "us", "us.example:7400"));
    clients.put("us", "us.example:7410");
    other.look();
    eu.hear(us);
    plane.look();
    assertThat(reached.get("us")).isEqualTo("us.example:7410");
    connected = false;
    plane.administerDatacenters(command("dc", "remove", "us", Map.of("dead", "true")), "ada");
    plane.administerDatacenters(command("dc", "add", "us", Map.of("address", "us:1")), "ada");
    assertThat(reached.containsKey("us")).as("who is added again has not said it").isFalse();
  }

  /** Whoever is added again under a name may run another program than who had it. */
  @Test
  void versionOfAFormerMember_doesNotCountForWhoIsAddedAgain() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);
    plane(us, file("eu", "us")).look();
    eu.hear(us);
    ControlPlane plane = plane(eu, file("eu", "us"));
    connected = false;
    plane.administerDatacenters(command("dc", "remove", "us", Map.of("dead", "true")), "ada");
    assertThat(told).containsEntry("us", 10);
    plane.administerDatacenters(command("dc", "add", "us", Map.of("address", "us:1")), "ada");
    assertThat(told).doesNotContainKey("us");
  }

  /** Else it would be taken for one that has everything, and could be the only one left. */
  @Test
  void whoCannotOpenAKeyspace_isNotActive_untilItCan() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    ControlPlane old = plane(eu, file("eu"));
    old.administerDatacenters(command("dc", "add", "za", Map.of("address", "za:1")), "ada");
    old.administer(command("keyspace", "create", "carts", Map.of()), "ada");
    OsierCopy za = new OsierCopy(new ReplicaId("za", 2_000), () -> ++clock);
    za.hear(eu);
    refuses = true;
    ControlPlane joins = plane(za, file("eu", "za"));
    for (int i = 0; i < 5; i++) {
      joins.look();
    }
    assertThat(state(joins, "za")).isEqualTo("joining");
    refuses = false;
    for (int i = 0; i < 5; i++) {
      joins.look();
    }
    assertThat(state(joins, "za")).isEqualTo("active");
  }

  /** As one that could not read it before it was upgraded; it would show nothing. */
  @Test
  void keyspaceThatOthersHadWithoutWhoIsActive_isCaughtUpWith() {
    OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
    ControlPlane old = plane(eu, file("eu"));
    old.administerDatacenters(command("dc", "add", "za", Map.of("address", "za:1")), "ada");
    OsierCopy za = new OsierCopy(new ReplicaId("za", 2_000), () -> ++clock);
    za.hear(eu);
    ControlPlane joins = plane(za, file("eu", "za"));
    for (int i = 0; i < 5; i++) {
      joins.look();
    }
    assertThat(state(joins, "za")).isEqualTo("active");
    old.administer(command("keyspace", "create", "carts", Map.of()), "ada");
    old.look();
    za.hear(eu);
    joins.look();
    assertThat(first).containsExactlyInAnyOrderEntriesOf(Map.of("eu", true, "za", false));
  }
}
