package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.control.HolderState.Step;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holders are added and removed at two datacenters that hear of each other in any order. */
final class HolderSetTest {
  private static final ObjectId OBJECT = ControlState.KEYSPACES;
  private static final KeyspacePolicy CARTS =
      KeyspacePolicy.session("carts", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));

  private static final List<String> ALL = List.of("ap", "eu", "sa", "us");

  private long clock;
  private final OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
  private final OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);

  @BeforeEach
  void create() {
    change(
        eu,
        KeyspaceDefinition.create(List.of(CARTS), "1-eu", List.of("eu", "us"), "eu", "root", 1)
            .getFirst());
    us.hear(eu);
  }

  private static void change(OsierCopy at, Operation operation) {
    new ControlObjects((request, wait) -> at.ask(request), () -> 0, new Random(1))
        .change(OBJECT, List.of(operation));
  }

  private static HolderSet read(OsierCopy at, String creation) {
    Reading.Fields all = (Reading.Fields) at.state(OBJECT).read(new Query.Whole());
    Reading of = all.fields().get(new FieldId("carts", CrdtType.OR_MAP));
    return HolderSet.of(
        of == null ? new Reading.Fields(new TreeMap<>()) : of, creation, CARTS, ALL);
  }

  private static void add(OsierCopy at, String dc, String creation) {
    SortedMap<String, String> fields = read(at, creation).adding(List.of(dc), creation);
    change(at, ControlState.alter("carts", creation, fields, "root", 2));
  }

  @Test
  void holderThatIsAdded_replicates_andServesOnceItHolds() {
    add(eu, "ap", "1-eu");
    us.hear(eu);
    HolderSet adding = read(us, "1-eu");
    assertThat(adding.all(CARTS).replicas()).containsExactly("ap", "eu", "us");
    assertThat(adding.whole(CARTS).replicas()).containsExactly("eu", "us");
    assertThat(adding.of("ap").catchesUp()).isTrue();
    assertThat(adding.of("eu").catchesUp()).isFalse();
    change(us, read(us, "1-eu").holds("carts", "ap", "1-eu"));
    eu.hear(us);
    HolderSet added = read(eu, "1-eu");
    assertThat(added.whole(CARTS).replicas()).containsExactly("ap", "eu", "us");
    assertThat(added.of("ap").catchesUp()).isFalse();
    assertThat(added.first()).containsExactly("eu", "us");
  }

  @Test
  void whatIsAddedAtTwoAtOnce_isAddedTogether_andAllEndAlike() {
    add(eu, "ap", "1-eu");
    add(us, "sa", "1-eu");
    change(us, read(us, "1-eu").holds("carts", "sa", "1-eu"));
    add(eu, "sa", "1-eu"); // it goes only forward
    eu.hear(us);
    us.hear(eu);
    assertThat(read(eu, "1-eu")).isEqualTo(read(us, "1-eu"));
    assertThat(read(eu, "1-eu").all(CARTS).replicas()).containsExactly("ap", "eu", "sa", "us");
    assertThat(read(eu, "1-eu").whole(CARTS).replicas()).containsExactly("eu", "sa", "us");
  }

  /** What was told of a keyspace while another one dropped it says nothing of the next one. */
  @Test
  void holderOfAFormerCreation_isNoneOfTheNextOne() {
    add(us, "ap", "1-eu");
    change(us, read(us, "1-eu").holds("carts", "ap", "1-eu"));
    change(eu, ControlState.drop("carts"));
    change(
        eu,
        KeyspaceDefinition.create(List.of(CARTS), "2-eu", List.of("eu", "us"), "eu", "root", 3)
            .getFirst());
    eu.hear(us);
    us.hear(eu);
    for (OsierCopy at : List.of(eu, us)) {
      assertThat(read(at, "2-eu").isFirst()).isTrue();
      assertThat(read(at, "2-eu").all(CARTS)).isEqualTo(CARTS);
    }
    add(eu, "ap", "2-eu");
    assertThat(read(eu, "2-eu").of("ap").catchesUp())
        .as("what the former one had is gone")
        .isTrue();
  }

  /** An operator writes the file anew after he has added a holder. */
  @Test
  void whatAllBeganWith_isSaidByOsier_andNotByTheFileOfOne() {
    String file = ControlHost.FROM_FILE;
    SortedMap<String, String> fields =
        HolderSet.of(List.of("eu", "us")).adding(List.of("ap"), file);
    change(eu, ControlState.alter("carts", ControlHost.FROM_FILE, fields, "root", 2));
    Reading.Fields all = (Reading.Fields) eu.state(OBJECT).read(new Query.Whole());
    Reading of = all.fields().get(new FieldId("carts", CrdtType.OR_MAP));
    KeyspacePolicy anew = CARTS.withReplicas(List.of("ap", "sa"));
    HolderSet read = HolderSet.of(requireNonNull(of), file, anew, ALL);
    assertThat(read.first()).containsExactly("eu", "us");
    assertThat(read.all(anew).replicas()).containsExactly("ap", "eu", "us");
    assertThat(read.of("ap").catchesUp()).isTrue();
  }

  private static void remove(OsierCopy at, String dc) {
    SortedMap<String, String> fields = read(at, "1-eu").adding(List.of(), "1-eu");
    change(at, ControlState.alter("carts", "1-eu", fields, "root", 2));
    change(at, read(at, "1-eu").removing("carts", List.of(dc), "1-eu"));
  }

  /** Who is told twice takes each step once; and another time after it has stayed. */
  @Test
  void removalThatIsToldAtTwo_isOne_andWhatWasDoneForItCounts() {
    remove(eu, "us");
    note(eu, "us", Step.QUIET, "us");
    remove(us, "us");
    eu.hear(us);
    assertThat(read(eu, "1-eu").of("us").isQuiet("us")).isTrue();
    note(eu, "us", Step.STAYS, "us");
    assertThat(read(eu, "1-eu").of("us").removal()).isEmpty();
    remove(us, "us"); // it has not heard that
    eu.hear(us);
    assertThat(read(eu, "1-eu").of("us").removal()).isEmpty();
    remove(eu, "us");
    assertThat(read(eu, "1-eu").of("us").leaves()).isTrue();
    assertThat(read(eu, "1-eu").of("us").isQuiet("us")).isFalse();
  }

  private static void note(OsierCopy at, String dc, Step step, String by) {
    change(at, read(at, "1-eu").note("carts", dc, step, by, "1-eu"));
  }

  @Test
  void holderThatIsRemoved_isAskedNothing_replicatesUntilItHasGone_andMayBeAddedAgain() {
    remove(eu, "us");
    us.hear(eu);
    HolderSet leaving = read(us, "1-eu");
    assertThat(leaving.of("us").leaves()).isTrue();
    assertThat(leaving.whole(CARTS).replicas()).containsExactly("eu");
    assertThat(leaving.all(CARTS).replicas()).containsExactly("eu", "us");
    note(us, "us", Step.QUIET, "us");
    note(us, "us", Step.UNSHARED, "eu");
    HolderState.Removal noted = read(us, "1-eu").of("us").removal().orElseThrow();
    assertThat(noted.has(Step.QUIET, "us")).isTrue();
    assertThat(noted.has(Step.UNSHARED, "eu")).isTrue();
    assertThat(noted.has(Step.AGREED, "eu")).isFalse();
    change(us, read(us, "1-eu").gone("carts", "us", "1-eu"));
    HolderSet gone = read(us, "1-eu");
    assertThat(gone.of("us").isGone()).isTrue();
    assertThat(gone.all(CARTS).replicas()).containsExactly("eu");
    assertThat(gone.first()).as("what all agree on").containsExactly("eu", "us");

    gone.again("carts", List.of("us"), "1-eu").forEach(operation -> change(us, operation));
    HolderSet again = read(us, "1-eu");
    assertThat(again.of("us"))
        .isEqualTo(new HolderState(1, false, false, false, 0, Optional.empty()));
    assertThat(again.whole(CARTS).replicas()).as("it has nothing yet").containsExactly("eu");
    change(us, again.holds("carts", "us", "1-eu"));
    assertThat(read(us, "1-eu").whole(CARTS).replicas()).containsExactly("eu", "us");
    remove(us, "us");
    assertThat(read(us, "1-eu").of("us").removal().orElseThrow().notes())
        .as("those of the former term do not count")
        .isEmpty();
  }

  /** The first by name stays, and what it was told once does not count when others come. */
  @Test
  void holdersThatAreAllRemovedAtOnce_endAlike_andOneStays() {
    remove(eu, "us");
    remove(us, "eu");
    eu.hear(us);
    us.hear(eu);
    for (OsierCopy at : List.of(eu, us)) {
      assertThat(read(at, "1-eu").whole(CARTS).replicas()).containsExactly("eu");
      assertThat(read(at, "1-eu").of("us").leaves()).isTrue();
    }
    note(eu, "eu", Step.STAYS, "eu");
    add(eu, "ap", "1-eu");
    change(eu, read(eu, "1-eu").holds("carts", "ap", "1-eu"));
    assertThat(read(eu, "1-eu").of("eu").leaves()).isFalse();
    assertThat(read(eu, "1-eu").of("eu").removal()).isEmpty();
    assertThat(read(eu, "1-eu").of("us").leaves()).isTrue();
  }

  /** Who has gone from the cluster, or has not caught up, is nobody on whose account others go. */
  @Test
  void holderGoesOnlyWhereAnotherOneStays_thatIsThere_andHasAll() {
    add(eu, "ap", "1-eu");
    remove(eu, "eu");
    remove(eu, "us");
    Reading.Fields all = (Reading.Fields) eu.state(OBJECT).read(new Query.Whole());
    Reading of = requireNonNull(all.fields().get(new FieldId("carts", CrdtType.OR_MAP)));
    assertThat(HolderSet.of(of, "1-eu", CARTS, List.of("ap", "us")).of("us").leaves()).isFalse();
    assertThat(HolderSet.of(of, "1-eu", CARTS, List.of("ap", "us")).of("eu").leaves()).isTrue();
    assertThat(HolderSet.of(of, "1-eu", CARTS, List.of()).those(HolderState::leaves)).isEmpty();
  }
}
