package io.osier.datacenter.control;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.protocol.AdminRequest;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Holders are removed one after the other, added again, and those of a later keyspace. */
final class HolderRepeatsTest extends HolderPlaneFixture {
  /** Until somebody stops to share with one that is being removed. */
  private void roundsUntilUnshared(String keyspace, String by, String removed) {
    for (int i = 0; i < 20; i++) {
      round(keyspace);
      if (at(by).holding(keyspace).unshared().contains(removed)) {
        return;
      }
    }
    throw new AssertionError(by + " shares with " + removed);
  }

  @Test
  void removalInAKeyspaceThatIsCreatedAgain_beginsFromTheFirstStep() {
    create("carts");
    at("ap").alter("carts", "eu");
    roundsUntilUnshared("carts", "eu", "us");
    at("eu")
        .plane
        .administer(
            new AdminRequest.Administer("keyspace", "drop", "carts", new TreeMap<>()), "op");
    settle();
    nodes.values().forEach(node -> node.opened.clear());
    create("carts");
    at("ap").alter("carts", "eu");
    for (String dc : List.of("eu", "us")) {
      at(dc).copy.hear(at("ap").copy);
      at(dc).plane.look();
    }
    assertThat(at("us").state("carts", "us")).isEqualTo("leaving");
    assertThat(at("us").serves("carts", false)).as("it was not told to go for long").isTrue();
    assertThat(at("eu").holding("carts").unshared()).as("us is not quiet").isEmpty();
  }

  @Test
  void holderThatIsRemovedAfterAnotherOne_getsItsPartOfRights_untilItIsQuiet() {
    at("eu").alter("pair", "ap,eu,us");
    settleWholly("pair");
    at("eu").alter("pair", "ap,eu");
    settleWholly("pair");
    at("eu").alter("pair", "eu");
    at("eu").plane.look();
    assertThat(at("eu").state("pair", "ap")).isEqualTo("leaving");
    assertThat(at("eu").holding("pair").unshared()).isEmpty();
    roundsUntilUnshared("pair", "eu", "ap");
  }

  /** It would be opened in the earlier term, and dropped once the later one is heard of. */
  @Test
  void storeOfALaterTermThanOsierKnows_isOpenedOnceItKnows_andNothingIsDropped() {
    at("eu").alter("pair", "eu");
    settleWholly("pair");
    at("eu").alter("pair", "eu,us");
    settleWholly("pair");
    at("us").dropped.clear();
    at("us").later = true;
    at("us").restartWithoutOsier(PAIR);
    assertThat(at("us").plane.beginConfigured()).isEmpty();
    removeDatacenter("sa");
    assertThat(hasAgreed("us", "sa")).as("to what it may lack").isFalse();
    at("us").later = false;
    for (int i = 0; i < 5; i++) {
      at("us").plane.look();
      at("eu").copy.hear(at("us").copy);
    }
    assertThat(hasAgreed("us", "sa")).isTrue();
    assertThat(at("us").open).contains("pair");
    assertThat(at("us").holding("pair").terms()).containsExactly(Map.entry("us", 1));
    assertThat(at("us").dropped).isEmpty();
  }

  private void removeDatacenter(String name) {
    at("eu")
        .plane
        .administerDatacenters(
            new AdminRequest.Administer("dc", "remove", name, new TreeMap<>()), "op");
    settle();
  }

  private boolean hasAgreed(String by, String goes) {
    Membership now =
        Membership.of(
            (Reading.Fields) at("eu").copy.state(Membership.OBJECT).read(new Query.Whole()));
    return now.find(goes).orElseThrow().has(Member.Step.AGREED, now.find(by).orElseThrow());
  }

  /** The one that was to stay leaves the cluster, and has not heard of that. */
  @Test
  void holderThatIsToStay_isSaidToTakeNoUpdates_asLongAsItTakesNone() {
    at("us").alter("pair", "eu");
    for (int i = 0; i < 10; i++) {
      at("us").plane.look();
      clock += 500;
    }
    assertThat(at("us").serves("pair", true)).isFalse();
    at("ap")
        .plane
        .administerDatacenters(
            new AdminRequest.Administer("dc", "remove", "eu", new TreeMap<>()), "op");
    at("us").copy.hear(at("ap").copy);
    at("us").plane.look();
    assertThat(at("us").serves("pair", true)).isFalse();
    assertThat(at("us").state("pair", "us")).isEqualTo("leaving, takes no updates");
  }

  /** It said that it holds nothing any more, and ended before it had dropped what it had. */
  @Test
  void formerHolderThatStartsAgain_dropsWhatItHad_ofFilesAndOfRunTime() {
    create("carts");
    for (String name : List.of("pair", "carts")) {
      at("eu").alter(name, "ap,eu,us");
      settleWholly(name);
      at("eu").alter(name, "eu,us");
      settleWholly(name);
    }
    Set<String> both = Set.copyOf(at("ap").dropped);
    assertThat(both).hasSize(2).contains("pair@file");
    nodes.values().forEach(node -> node.dropped.clear());
    nodes.values().forEach(node -> node.restart(PAIR));
    nodes.forEach(
        (dc, node) -> assertThat(node.dropped).isEqualTo(dc.equals("ap") ? both : Set.of()));
    at("ap").dropped.clear();
    at("ap").restartWithoutOsier(PAIR);
    assertThat(at("ap").dropped).isEmpty();
    at("ap").plane.look();
    assertThat(at("ap").dropped).as("once the others have told it").isEqualTo(both);
  }

  /** It hears of both at once, so that the holders are those that they were. */
  @Test
  void holderThatMayBecomeTheHeir_looksAgain_whenAnotherOneWasRemovedAndAddedAgain() {
    String lost = requireNonNull(nodes.remove("sa")).dc;
    at("eu")
        .plane
        .administerDatacenters(
            new AdminRequest.Administer(
                "dc", "remove", lost, new TreeMap<>(Map.of("dead", "true"))),
            "op");
    for (int i = 0; i < 5; i++) {
      settle();
    }
    at("us").alter("pair", "us");
    at("us").whole.add("pair");
    for (int i = 0; !at("eu").state("pair", "eu").equals("none"); i++) {
      assertThat(i).as("looks until eu has gone").isLessThan(100);
      at("us").plane.look();
      at("eu").copy.hear(at("us").copy);
      at("us").copy.hear(at("eu").copy);
      at("eu").plane.look();
      clock += 500;
    }
    at("eu").alter("pair", "eu,us");
    at("us").copy.hear(at("eu").copy);
    at("us").inherited.clear();
    at("us").plane.look();
    at("us").plane.look();
    assertThat(at("us").holding("pair").terms()).containsExactly(Map.entry("eu", 1));
    assertThat(at("us").inherited).containsExactly(lost);
  }
}
