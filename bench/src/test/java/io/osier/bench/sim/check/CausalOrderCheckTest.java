package io.osier.bench.sim.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Datacenters that show an object's updates in an order that causality forbids. */
final class CausalOrderCheckTest {
  private static final ReplicaId AP = new ReplicaId("ap", 1);
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);
  private static final Dot POST = new Dot(EU, 1);
  private static final Dot REPLY = new Dot(US, 7);
  private static final ObjectId OBJECT = new ObjectId(Key.of("wall"), CrdtType.AW_SET);

  private final CausalOrderCheck check = new CausalOrderCheck(Unit.pair().getFirst());

  private static CausalContext covering(Dot... dots) {
    return Stream.of(dots).map(CausalContext::of).reduce(CausalContext.EMPTY, CausalContext::join);
  }

  private void made(Dot dot, Dot... before) {
    check.made(OBJECT, dot.replica(), dot.number(), covering(before));
  }

  /** What a datacenter covers of the object, one after the other. */
  private void shows(CausalContext... contexts) {
    CausalContext before = CausalContext.EMPTY;
    for (CausalContext after : contexts) {
      check.changed(AP, OBJECT, before, after);
      before = after;
    }
  }

  @Test
  void causesFirst_orTogether_isFine() {
    made(POST);
    made(REPLY, POST);
    shows(covering(POST), covering(POST, REPLY));
    shows(covering(POST, REPLY));
  }

  @Test
  void concurrentUpdates_inAnyOrder_areFine() {
    made(POST);
    made(REPLY);
    shows(covering(POST), covering(POST, REPLY));
    shows(covering(REPLY), covering(POST, REPLY));
  }

  @Test
  void replyWithoutItsPost_isNoticed() {
    made(POST);
    made(REPLY, POST);
    assertThatThrownBy(() -> shows(covering(REPLY)))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("ap/1 shows update us/1:7 of " + OBJECT)
        .hasMessageContaining("without all that it had seen");
  }

  @Test
  void replyThatComesLater_withoutItsPost_isNoticed() {
    Dot first = new Dot(US, 3);
    made(first);
    made(POST);
    made(REPLY, POST, first);
    assertThatThrownBy(() -> shows(covering(first), covering(first, REPLY)))
        .hasMessageContaining("shows update us/1:7");
  }

  @Test
  void updateWithoutAnEarlierOne_ofItsOwnOrigin_isNoticed() {
    Dot second = new Dot(EU, 4);
    made(POST);
    made(second, POST);
    assertThatThrownBy(() -> shows(covering(second)))
        .hasMessageContaining("ap/1 shows update eu/1:4");
  }

  @Test
  void causeThatComesThroughAThird_isWantedAsWell() {
    Dot last = new Dot(AP, 2);
    made(POST);
    made(REPLY, POST);
    made(last, POST, REPLY);
    assertThatThrownBy(() -> shows(covering(POST), covering(POST, last)))
        .hasMessageContaining("shows update ap/1:2");
  }

  @Test
  void whatIsCoveredNoMore_isNoticed() {
    made(POST);
    assertThatThrownBy(() -> shows(covering(POST), CausalContext.EMPTY))
        .isInstanceOf(Violation.class)
        .hasMessageContaining("ap/1 forgot: " + OBJECT);
  }

  /** A context spans numbers of updates of other objects. */
  @Test
  void covers_numbersThatAreNoUpdatesOfTheObject_areNotWanted() {
    made(POST);
    made(new Dot(EU, 4), POST);
    CausalContext wanted = CausalContext.range(EU, 0, 3);
    assertThat(check.covers(OBJECT, covering(POST), wanted)).isTrue();
    assertThat(Stream.of(CausalContext.EMPTY, covering(REPLY)))
        .noneMatch(here -> check.covers(OBJECT, here, wanted));
    assertThat(check.covers(OBJECT, covering(POST), CausalContext.range(EU, 0, 4))).isFalse();
  }
}
