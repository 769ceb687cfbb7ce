package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** What of the end of a run is a fault. */
final class ContentsTest {
  private static Contents contents(boolean equal, Set<Key> different, long missing, long surplus) {
    return new Contents(equal, 0.2, Map.of("k", 3L), different, missing, surplus, 10, 0);
  }

  @Test
  void nothingWrong_isNoFault() {
    assertThat(contents(true, Set.of(), 0, 0).faults(false)).isEmpty();
    assertThat(contents(true, Set.of(), 0, 0).toString()).endsWith("datacenters equal after 0.2 s");
  }

  @Test
  void eachFault_isNamed() {
    assertThat(contents(false, Set.of(), 0, 0).faults(false)).hasSize(1);
    assertThat(contents(true, Set.of(Key.of("x")), 0, 0).faults(false)).hasSize(1);
    assertThat(contents(true, Set.of(), 1, 0).faults(false)).hasSize(1);
    assertThat(contents(true, Set.of(), 0, 1).faults(false)).hasSize(1);
    assertThat(contents(false, Set.of(Key.of("x")), 1, 1).faults(false)).hasSize(4);
    assertThat(contents(false, Set.of(), 0, 0).toString()).contains("datacenters NOT EQUAL");
  }

  @Test
  void nothingToLookAt_isAFault() {
    Contents nothingDone =
        new Contents(true, 0.2, Map.of("k", 3L), Set.of(), 0, 0, /* acknowledged= */ 0, 5);
    assertThat(nothingDone.faults(true))
        .containsExactly("no update was acknowledged, so none could be missing");
    Contents nothingThere = new Contents(true, 0.2, Map.of("k", 0L), Set.of(), 0, 0, 10, 0);
    assertThat(nothingThere.faults(true))
        .containsExactly("a datacenter shows nothing in the keyspace k");
    Contents noLoad = new Contents(true, 0.2, Map.of(), Set.of(), 0, 0, 0, 0);
    assertThat(noLoad.faults(false)).isEmpty();
  }

  @Test
  void whoForgets_mayLackUpdates_butNotDiffer() {
    assertThat(contents(true, Set.of(), 5, 5).faults(true)).isEmpty();
    assertThat(contents(false, Set.of(Key.of("x")), 5, 5).faults(true)).hasSize(2);
  }

  // ---------------------------------------------------------------- what is compared

  /** Writes nothing itself; of one of its keyspaces parts expire. */
  private static final class Expiring extends WriterLoad {
    Expiring() {
      super(Set.of("kept", "gone"), 1);
    }

    @Override
    protected Set<String> expiring() {
      return Set.of("gone");
    }

    @Override
    protected Audit audit(Map<String, List<Keyspace.Row>> there, long sinceMillis) {
      return new Audit(
          there.getOrDefault("gone", List.of()).size(),
          there.getOrDefault("kept", List.of()).size());
    }
  }

  private static EmbeddedDatacenter start(String dc, String... keyspaces) {
    EmbeddedDatacenter datacenter =
        EmbeddedDatacenter.start(
            "osier { dc = %s, store { dir = \"\" }, listen { client-port = 0, peer-port = 0 },"
                    .formatted(dc)
                + " keyspaces { kept {}, gone {} } }");
    datacenter.awaitReady(Duration.ofMinutes(10));
    for (String keyspace : keyspaces) {
      datacenter.session().keyspace(keyspace).register("of " + dc).assign(dc);
    }
    return datacenter;
  }

  private static Contents compare(EmbeddedDatacenter eu, EmbeddedDatacenter us) {
    Map<String, String> endpoints =
        Map.of("eu", "127.0.0.1:" + eu.clientPort(), "us", "127.0.0.1:" + us.clientPort());
    try (Fleet fleet = new Fleet("test", endpoints)) {
      for (String dc : fleet.dcs()) {
        while (!fleet.isReady(dc)) { // it is being connected
          LockSupport.parkNanos(10_000_000);
        }
      }
      return Contents.of(fleet, Duration.ofSeconds(1), line -> {}, List.of(new Expiring()));
    }
  }

  @Test
  void keyspaceOfWhichPartsExpire_isComparedByItsDigests_andNotByItsRows() {
    try (EmbeddedDatacenter eu = start("eu", "gone");
        EmbeddedDatacenter us = start("us", "gone")) {
      Contents contents = compare(eu, us);
      assertThat(contents.equal()).as("by its digest").isFalse();
      assertThat(contents.different()).isEmpty();
      assertThat(contents.fewest()).containsExactly(Map.entry("kept", 0L));
      assertThat(contents.missing()).as("its audit has the rows").isEqualTo(1);
    }
  }

  @Test
  void anyOtherKeyspace_isComparedRowByRow() {
    try (EmbeddedDatacenter eu = start("eu", "kept", "gone");
        EmbeddedDatacenter us = start("us", "kept")) {
      Contents contents = compare(eu, us);
      assertThat(contents.different()).containsExactlyInAnyOrder(Key.of("of eu"), Key.of("of us"));
      assertThat(contents.fewest()).containsExactly(Map.entry("kept", 1L));
      assertThat(compare(eu, eu).equal()).as("two names of one datacenter").isTrue();
    }
  }
}
