package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ErrorCode;
import io.osier.core.Partitioning;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.server.LoggedLines;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.testing.Refused;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Holders are added to keyspaces of four datacenters. */
final class HolderPlaneTest extends HolderPlaneFixture {
  @Test
  void holderThatIsAdded_servesOnceItHasAll_ofAKeyspaceOfTheFile_andOfOneOfRunTime() {
    create("carts");
    for (String name : List.of("pair", "carts")) {
      at("us").alter(name, "ap,eu,us");
      settle();
      for (Node node : List.of(at("ap"), at("eu"), at("us"))) {
        ControlHost.Holding told = node.holding(name);
        assertThat(told.holders()).containsExactly("ap", "eu", "us");
        assertThat(told.first()).containsExactly("eu", "us");
        assertThat(told.joins()).isEqualTo(node == at("ap"));
      }
      for (Node node : nodes.values()) {
        assertThat(node.holders(name)).as("who is asked").containsExactly("eu", "us");
        assertThat(node.state(name, "ap")).isEqualTo("catching up");
      }
      at("ap").whole.add(name);
      settle();
      for (Node node : nodes.values()) {
        assertThat(node.holders(name)).containsExactly("ap", "eu", "us");
        assertThat(node.state(name, "ap")).isEqualTo("holds");
        assertThat(node.plane.views(name).getFirst().settings())
            .containsEntry("replicas", "ap,eu,us");
      }
      assertThat(at("ap").holding(name).joins()).isFalse();
      assertThat(at("sa").open).doesNotContain(name);
    }
  }

  /** What it had before says nothing, and what its file says counts as little as before. */
  @Test
  void holderThatEndsWhileItIsAdded_goesOn_andTheFileDoesNotCount() {
    at("eu").alter("pair", "ap,eu,us");
    settle();
    at("ap").restart(PAIR);
    assertThat(at("ap").holding("pair").joins()).isTrue();
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("eu", "us");
    at("ap").whole.add("pair");
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("ap", "eu", "us");
    at("sa").restart(PAIR.withReplicas(List.of("sa", "us")));
    settle();
    assertThat(at("sa").holders("pair")).containsExactly("ap", "eu", "us");
    assertThat(at("sa").holding("pair").holders()).doesNotContain("sa");
  }

  @Test
  void holdersThatAreAltered_areNoFault_andAFileThatNamesOthersIsNamedAtItsStart() {
    settle();
    try (LoggedLines log = new LoggedLines(HolderPlane.class.getName()).quietly()) {
      at("eu").alter("pair", "ap,eu,us");
      settle();
      at("ap").whole.add("pair");
      settle();
      assertThat(log.all()).isEmpty();
      at("sa").restart(PAIR.withReplicas(List.of("sa", "us")));
      settle();
      at("eu").alter("pair", "ap,eu,sa,us");
      settle();
      assertThat(log.all())
          .singleElement()
          .asString()
          .contains("held by [ap, eu, us]", "not by [sa, us], as the configuration file says");
    }
  }

  @Test
  void holdersAddedAtTwoAtOnce_areAddedBoth() {
    at("eu").alter("pair", "ap,eu,us");
    at("us").alter("pair", "eu,sa,us");
    settle();
    for (Node node : nodes.values()) {
      assertThat(node.state("pair", "ap")).isEqualTo("catching up");
      assertThat(node.state("pair", "sa")).isEqualTo("catching up");
    }
    at("sa").whole.add("pair");
    settle();
    assertThat(at("us").holders("pair")).containsExactly("eu", "sa", "us");
  }

  @Test
  void keyspaceThatIsDroppedMeanwhile_isGoneEverywhere() {
    create("carts");
    at("us").alter("carts", "ap,eu,us");
    at("eu").administer("drop", "carts", Map.of());
    at("ap").whole.add("carts");
    settle();
    for (Node node : nodes.values()) {
      assertThat(node.open).doesNotContain("carts");
      assertThat(node.plane.views("carts")).isEmpty();
    }
  }

  /** Of a keyspace that is created at run time, and of one that the files name. */
  @Test
  void keyspaceOneOfWhoseHoldersHasLeft_isGivenOthers_andAltered() {
    create("carts");
    giveUp("us");
    for (String name : List.of("pair", "carts")) {
      assertThatThrownBy(() -> at("sa").alter(name, "us")).hasMessageContaining("would be lost");
      assertThatThrownBy(() -> at("sa").alter(name, "eu"))
          .hasMessageContaining("hold nothing any more: [us]");
      at("eu").alter(name, "ap,eu,us");
      at("ap").whole.add(name);
      settle();
      assertThat(at("sa").state(name, "ap")).isEqualTo("holds");
      at("eu").administer("alter", name, Map.of("sla", "5s"));
      settle();
      assertThat(at("sa").plane.views(name).getFirst().settings()).containsEntry("sla", "5000ms");
    }
  }

  // ---------------------------------------------------------------- what is refused

  private void refused(ErrorCode code, String replicas, String... why) {
    assertThatThrownBy(() -> at("eu").alter("pair", replicas))
        .is(Refused.with(code))
        .hasMessageContainingAll(why);
    settle();
    assertThat(at("eu").holders("pair")).containsExactly("eu", "us");
  }

  /** One that knows no tags cannot read the creation, and takes no part in the keyspace. */
  @Test
  void keyspaceByTag_isCreatedOnceAllKnowThem_andStaysSo() {
    Map<String, String> settings = Map.of("hash", "tag", "partitions", "4", "replicas", "eu,us");
    at("sa").spoken = PeerVersions.BY_TAG - 1;
    assertThatThrownBy(() -> at("eu").administer("create", "tags", settings))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContainingAll("hash = tag", "version 17", "[sa]");
    at("sa").spoken = PeerVersions.BY_TAG;
    at("eu").administer("create", "tags", settings);
    settle();
    at("sa").spoken = PeerVersions.BY_TAG - 1; // it was taken back
    assertThatThrownBy(() -> at("eu").alter("tags", "eu,sa,us"))
        .is(Refused.with(ErrorCode.UNAVAILABLE))
        .hasMessageContainingAll("version 17", "[sa]");
    assertThat(at("us").placement.find("tags").orElseThrow().policy().partitioning())
        .isEqualTo(new Partitioning(4, Partitioning.Hash.TAG));
    assertThat(at("us").plane.views("tags").getFirst().settings())
        .containsEntry("hash", "tag")
        .containsEntry("partitions", "4");
    Reading.Fields all =
        (Reading.Fields) at("us").copy.state(ControlPlane.KEYSPACES).read(new Query.Whole());
    assertThat(all.fields().get(new FieldId("tags", CrdtType.OR_MAP)))
        .satisfies(
            map -> assertThat(ControlState.texts(map)).containsEntry("partitions", "4 by tag"));
    assertThatThrownBy(() -> at("us").administer("alter", "tags", Map.of("hash", "key")))
        .hasMessageContaining("hash of a keyspace that exists cannot be altered");
  }

  @Test
  void whatCannotBe_isRefusedInClearWords() {
    refused(
        ErrorCode.INVALID_ARGUMENT, "ap,eu", "either adds or removes", "add [ap]", "remove [us]");
    refused(ErrorCode.INVALID_ARGUMENT, "ap", "either adds or removes", "[eu, us]");
    refused(ErrorCode.INVALID_ARGUMENT, "eu,us,xx", "[ap, eu, sa, us]", "xx");
    refused(ErrorCode.INVALID_ARGUMENT, "all", "by names", "[eu, us]");
    at("eu").settled = false;
    refused(ErrorCode.UNAVAILABLE, "ap,eu,us", "may not know who holds what");
    at("eu").settled = true;
    at("sa").spoken = 13;
    refused(ErrorCode.UNAVAILABLE, "ap,eu,us", "version 15", "[sa]", "too old, so upgrade first");
    at("sa").spoken = 15;
    refused(ErrorCode.UNAVAILABLE, "eu", "version 16", "[sa]");
    at("sa").spoken = PeerVersions.NEWEST;
    at("eu").alter("pair", "us,eu"); // as it is
    at("eu").alter("pair", "ap,eu,us");
    refused(ErrorCode.INVALID_ARGUMENT, "ap,eu,sa,us", "'ap' is being added");
    refused(ErrorCode.INVALID_ARGUMENT, "ap,eu", "'ap' is being added");
  }
}
