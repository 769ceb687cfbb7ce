package io.osier.bench.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import java.util.Map;
import java.util.Set;
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
}
