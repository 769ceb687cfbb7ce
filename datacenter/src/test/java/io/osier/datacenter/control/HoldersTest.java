package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.config.KeyspaceSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which keyspaces are elsewhere, too, as a store says that nobody has open. */
final class HoldersTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final Reading.Fields NOTHING = new Reading.Fields(new TreeMap<>());
  private static final KeyspacePolicy SHOP = KeyspacePolicy.session("shop", Duration.ofSeconds(1));
  private static final KeyspacePolicy LOCAL = at("local", "eu");
  private static final KeyspacePolicy WITH_US = at("pair", "eu,us");

  private static KeyspacePolicy at(String name, String replicas) {
    return KeyspaceSettings.read(name, Map.of("replicas", replicas), Set.of("eu", "us", "ap"));
  }

  private static Reading.Fields read(List<Operation> operations) {
    CrdtState state = CrdtState.bottom(CrdtType.OR_MAP);
    long timestamp = 1_000;
    for (Operation operation : operations) {
      long last = state.context().last(EU);
      state = state.join(state.prepare(operation, EU, last + 1, last, ++timestamp, 0));
    }
    return (Reading.Fields) state.read(new Query.Whole());
  }

  private static List<Operation> members() {
    return new ArrayList<>(
        Membership.NOTHING.initial(
            new TreeMap<>(
                Map.of("eu", Optional.empty(), "us", Optional.empty(), "ap", Optional.empty()))));
  }

  private static Holders holders(Reading.Fields datacenters, Reading.Fields keyspaces) {
    return Holders.of(Set.of("us", "ap"), List.of(SHOP, LOCAL, WITH_US), datacenters, keyspaces);
  }

  @Test
  void whatTheFileGivesToOneDatacenter_isNowhereElse() {
    Holders holders = holders(NOTHING, NOTHING);
    assertThat(holders.hold("shop")).isTrue();
    assertThat(holders.hold("pair")).isTrue();
    assertThat(holders.hold(KeyspacePolicy.CONTROL)).isTrue();
    assertThat(holders.hold("local")).isFalse();
    assertThat(holders.hold("unknown")).isFalse();
  }

  @Test
  void whoHasGone_orIsNotThereYet_holdsNothing() {
    List<Operation> operations = members();
    Member us = Membership.of(read(operations)).find("us").orElseThrow();
    operations.add(Membership.mark(us, Member.State.REMOVED, "", 1, 1));
    assertThat(holders(read(operations), NOTHING).hold("pair")).isFalse();
    assertThat(holders(read(operations), NOTHING).hold("shop")).isTrue();
    Member ap = Membership.of(read(operations)).find("ap").orElseThrow();
    operations.add(Membership.mark(ap, Member.State.LEFT, "", 1, 1));
    operations.add(Membership.of(read(operations)).add("ap", "ap:1", "id", "", 2));
    assertThat(holders(read(operations), NOTHING).hold("shop")).isFalse();
    assertThat(holders(read(operations), NOTHING).hold(KeyspacePolicy.CONTROL)).isFalse();
  }

  /** What the file does not name is asked nothing when the store is opened. */
  @Test
  void whoTheFileDoesNotName_isNotCounted() {
    Holders holders = Holders.of(Set.of("ap"), List.of(WITH_US), read(members()), NOTHING);
    assertThat(holders.hold("pair")).isFalse();
  }

  @Test
  void whatWasCreatedAtRunTime_isHeldByItsReplicas_inThisCreation() {
    Set<String> all = Set.of("eu", "us", "ap");
    Reading.Fields keyspaces =
        read(
            List.of(
                KeyspaceDefinition.create(List.of(at("here", "eu")), "1", all, "eu", "", 1)
                    .getFirst(),
                KeyspaceDefinition.create(List.of(at("both", "eu,us")), "2", all, "eu", "", 1)
                    .getFirst()));
    Holders holders = holders(NOTHING, keyspaces);
    assertThat(holders.hold("here@1")).isFalse();
    assertThat(holders.hold("both@2")).isTrue();
    assertThat(holders.hold("both@1")).isFalse();
    assertThat(holders.hold("both")).isFalse();
  }

  @Test
  void whereTheStoreCannotSay_onlyTheControlPlanesOwnIsElsewhere() {
    Holders holders = Holders.unknown(Set.of("us"));
    assertThat(holders.hold(KeyspacePolicy.CONTROL)).isTrue();
    assertThat(holders.hold("shop")).isFalse();
  }
}
