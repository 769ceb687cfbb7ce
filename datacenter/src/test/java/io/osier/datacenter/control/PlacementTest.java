package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.protocol.AdminRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Who holds which keyspace, as a datacenter knows it that holds some of them. */
final class PlacementTest {
  private static final KeyspacePolicy SHOP = KeyspacePolicy.session("shop", Duration.ofSeconds(1));
  private static final KeyspacePolicy PAIR =
      KeyspaceSettings.read("pair", Map.of("replicas", "eu,us"), Set.of("eu", "us", "ap"));

  private long clock = 1_000;
  private final OsierCopy ap = new OsierCopy(new ReplicaId("ap", 1), () -> ++clock);
  private final OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
  private Placement told = Placement.NOTHING;
  private final List<String> opened = new ArrayList<>();
  private final List<String> configured = new ArrayList<>();

  /** The datacenter that is out of reach. */
  private String silent = "";

  private ControlPlane plane(OsierCopy copy) {
    ControlHost host =
        new StillHost(copy.replica().dc(), copy) {
          @Override
          public boolean isConnected(String name) {
            return !silent.equals(name);
          }

          @Override
          public void open(
              KeyspacePolicy policy, String created, boolean first, List<String> awaited) {
            opened.add(dc);
          }

          @Override
          public void configure(KeyspacePolicy policy) {
            configured.add(policy.name());
          }

          @Override
          public void setPlacement(Placement placement) {
            told = copy == ap ? placement : told;
          }
        };
    SortedMap<String, Optional<String>> file = new TreeMap<>();
    List.of("ap", "eu", "us").forEach(dc -> file.put(dc, Optional.of(dc + ":1")));
    Map<String, KeyspacePolicy> keyspaces = Map.of("shop", SHOP, "pair", PAIR);
    return new ControlPlane(copy.replica().dc(), file, keyspaces, () -> ++clock, host);
  }

  private static AdminRequest.Administer keyspace(String action, String name, String... setting) {
    SortedMap<String, String> settings = new TreeMap<>();
    if (setting.length > 0) {
      settings.put(setting[0], setting[1]);
    }
    return new AdminRequest.Administer("keyspace", action, name, settings);
  }

  @Test
  void whatOthersHold_isKnown_whetherAFileNamesItOrItWasCreated() {
    ControlPlane here = plane(ap);
    ControlPlane there = plane(eu);
    here.look();
    assertThat(told.find("shop").orElseThrow().holders()).containsExactly("ap", "eu", "us");
    assertThat(told.find("pair").orElseThrow().holders()).containsExactly("eu", "us");
    assertThat(told.find("carts")).isEmpty();
    there.administer(keyspace("create", "carts", "replicas", "eu,us"), "ada");
    ap.hear(eu);
    here.look();
    assertThat(told.find("carts").orElseThrow().holders()).containsExactly("eu", "us");
    assertThat(told.elsewhere("ap"))
        .extracting(k -> k.policy().name())
        .containsExactly("carts", "pair");
    assertThat(told.elsewhere("eu")).isEmpty();
    assertThat(opened).containsExactly("eu");
    there.administer(keyspace("drop", "carts"), "ada");
    ap.hear(eu);
    here.look();
    assertThat(told.find("carts")).isEmpty();
  }

  /** A datacenter that does not hold a keyspace of its file has nothing to configure. */
  @Test
  void whatOthersHold_canBeAltered_andIsNotConfiguredHere() {
    ControlPlane here = plane(ap);
    here.look();
    here.administer(keyspace("alter", "pair", "sla", "7s"), "ada");
    assertThat(told.find("pair").orElseThrow().policy().sla()).isEqualTo(Duration.ofSeconds(7));
    assertThat(configured).isEmpty();
    here.administer(keyspace("alter", "shop", "sla", "7s"), "ada");
    assertThat(configured).containsExactly("shop");
  }

  @Test
  void listNamesTheHolders_andWhatIsKnownOfThem() {
    ControlPlane here = plane(ap);
    here.look();
    silent = "us";
    plane(eu).administer(keyspace("create", "carts", "replicas", "eu,us"), "ada");
    ap.hear(eu);
    here.look();
    assertThat(holders(here, "shop")).containsExactly("ap holds", "eu holds", "us out of reach");
    silent = "";
    assertThat(holders(here, "pair")).containsExactly("eu holds", "us holds");
    assertThat(holders(here, "carts")).containsExactly("eu holds", "us opening");
  }

  private static List<String> holders(ControlPlane at, String keyspace) {
    return at.views(keyspace).getFirst().holders().stream()
        .map(h -> h.dc() + " " + h.state())
        .toList();
  }

  /** One that joins lacks what the others have, and one that was removed has nothing. */
  @Test
  void whoHasNotJoinedYet_isNoHolder() {
    Placement placement = Placement.of(List.of(SHOP, PAIR), Map.of(), List.of("us", "ap"));
    assertThat(placement.find("shop").orElseThrow().holders()).containsExactly("ap", "us");
    assertThat(placement.find("pair").orElseThrow().holders()).containsExactly("us");
  }
}
