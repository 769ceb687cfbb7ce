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
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Holders are added at two datacenters that hear of each other in any order. */
final class HolderSetTest {
  private static final ObjectId OBJECT = ControlState.KEYSPACES;
  private static final KeyspacePolicy CARTS =
      KeyspacePolicy.session("carts", Duration.ofSeconds(1)).withReplicas(List.of("eu", "us"));

  private long clock;
  private final OsierCopy eu = new OsierCopy(new ReplicaId("eu", 1), () -> ++clock);
  private final OsierCopy us = new OsierCopy(new ReplicaId("us", 1), () -> ++clock);

  @BeforeEach
  void create() {
    change(eu, ControlState.create(CARTS, "1-eu", List.of("eu", "us"), "eu", "root", 1));
    us.hear(eu);
  }

  private static void change(OsierCopy at, Operation operation) {
    new ControlObjects((request, wait) -> at.ask(request), () -> 0, new Random(1))
        .change(OBJECT, List.of(operation));
  }

  private static HolderSet read(OsierCopy at, String creation) {
    Reading.Fields all = (Reading.Fields) at.state(OBJECT).read(new Query.Whole());
    Reading of = all.fields().get(new FieldId("carts", CrdtType.OR_MAP));
    return HolderSet.of(of == null ? new Reading.Fields(new TreeMap<>()) : of, creation, CARTS);
  }

  private static void add(OsierCopy at, String dc, String creation) {
    SortedMap<String, String> fields = read(at, creation).adding(List.of(dc), creation);
    change(at, ControlState.alter("carts", Optional.of(creation), fields, "root", 2));
  }

  @Test
  void holderThatIsAdded_replicates_andServesOnceItHolds() {
    add(eu, "ap", "1-eu");
    us.hear(eu);
    HolderSet adding = read(us, "1-eu");
    assertThat(adding.all(CARTS).replicas()).containsExactly("ap", "eu", "us");
    assertThat(adding.whole(CARTS).replicas()).containsExactly("eu", "us");
    assertThat(adding.catchesUp("ap")).isTrue();
    assertThat(adding.catchesUp("eu")).isFalse();
    change(us, HolderSet.holds("carts", "ap", "1-eu"));
    eu.hear(us);
    HolderSet added = read(eu, "1-eu");
    assertThat(added.whole(CARTS).replicas()).containsExactly("ap", "eu", "us");
    assertThat(added.catchesUp("ap")).isFalse();
    assertThat(added.first()).containsExactly("eu", "us");
  }

  @Test
  void whatIsAddedAtTwoAtOnce_isAddedTogether_andAllEndAlike() {
    add(eu, "ap", "1-eu");
    add(us, "sa", "1-eu");
    change(us, HolderSet.holds("carts", "sa", "1-eu"));
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
    change(us, HolderSet.holds("carts", "ap", "1-eu"));
    change(eu, ControlState.drop("carts"));
    change(eu, ControlState.create(CARTS, "2-eu", List.of("eu", "us"), "eu", "root", 3));
    eu.hear(us);
    us.hear(eu);
    for (OsierCopy at : List.of(eu, us)) {
      assertThat(read(at, "2-eu").isFirst()).isTrue();
      assertThat(read(at, "2-eu").all(CARTS)).isEqualTo(CARTS);
    }
    add(eu, "ap", "2-eu");
    assertThat(read(eu, "2-eu").catchesUp("ap")).as("what the former one had is gone").isTrue();
  }

  /** An operator writes the file anew after he has added a holder. */
  @Test
  void whatAllBeganWith_isSaidByOsier_andNotByTheFileOfOne() {
    String file = HolderSet.FROM_FILE;
    SortedMap<String, String> fields =
        new HolderSet(List.of("eu", "us"), new TreeMap<>()).adding(List.of("ap"), file);
    change(eu, ControlState.alter("carts", Optional.empty(), fields, "root", 2));
    Reading.Fields all = (Reading.Fields) eu.state(OBJECT).read(new Query.Whole());
    Reading of = all.fields().get(new FieldId("carts", CrdtType.OR_MAP));
    KeyspacePolicy anew = CARTS.withReplicas(List.of("ap", "sa"));
    HolderSet read = HolderSet.of(requireNonNull(of), file, anew);
    assertThat(read.first()).containsExactly("eu", "us");
    assertThat(read.all(anew).replicas()).containsExactly("ap", "eu", "us");
    assertThat(read.catchesUp("ap")).isTrue();
  }
}
