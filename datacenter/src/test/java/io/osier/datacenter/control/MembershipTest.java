package io.osier.datacenter.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class MembershipTest {
  private static final ReplicaId EU = new ReplicaId("eu", 1);
  private static final ReplicaId US = new ReplicaId("us", 1);

  private long timestamp = 1_000;

  /** A replica of the object. */
  private final class Copy {
    private final ReplicaId replica;
    private CrdtState state = CrdtState.bottom(CrdtType.OR_MAP);
    private long number;

    Copy(ReplicaId replica) {
      this.replica = replica;
    }

    void change(List<Operation> operations) {
      for (Operation operation : operations) {
        long last = state.context().last(replica);
        CrdtState delta = state.prepare(operation, replica, ++number, last, ++timestamp, 0);
        number = delta.context().last(replica);
        state = state.join(delta);
      }
    }

    void change(Operation operation) {
      change(List.of(operation));
    }

    void hear(Copy other) {
      state = state.join(other.state);
    }

    Membership read() {
      return Membership.of((Reading.Fields) state.read(new Query.Whole()));
    }

    Member member(String name) {
      return read().find(name).orElseThrow();
    }
  }

  private final Copy eu = new Copy(EU);
  private final Copy us = new Copy(US);

  private static SortedMap<String, Optional<String>> file(String... names) {
    SortedMap<String, Optional<String>> file = new TreeMap<>();
    for (String name : names) {
      file.put(name, Optional.of(name + ":7401"));
    }
    return file;
  }

  private void meet() {
    eu.hear(us);
    us.hear(eu);
    assertThat(eu.read()).isEqualTo(us.read());
  }

  @Test
  void nothing_untilSomebodyBegins() {
    assertThat(eu.read().isInForce()).isFalse();
    eu.change(eu.read().initial(file("ap", "eu", "us")));
    assertThat(eu.read().isInForce()).isTrue();
    assertThat(eu.read().active()).containsExactly("ap", "eu", "us");
    assertThat(eu.read().present()).extracting(Member::rank).containsExactly(0, 1, 2);
  }

  @Test
  void twoThatAreAddedAtOnce_haveClocksOfTheirOwn_andNobodyElseAnother() {
    eu.change(eu.read().initial(file("eu", "us")));
    meet();
    eu.change(eu.read().add("za", "za:1", "1-a", "ada", 1));
    us.change(us.read().add("ap", "ap:1", "2-b", "bob", 2));
    assertThat(eu.member("za").rank()).isEqualTo(us.member("ap").rank());
    meet();
    assertThat(eu.read().all().values()).extracting(Member::rank).doesNotHaveDuplicates();
    assertThat(eu.member("eu").rank()).isZero();
    assertThat(eu.member("us").rank()).isEqualTo(1);
    assertThat(eu.member("za").rank()).as("the earlier one keeps it").isEqualTo(2);
  }

  @Test
  void ofTwoThatBeginAtOnce_bothCount_andSoDoesWhatOneFileNamesAlone() {
    eu.change(eu.read().initial(file("eu", "us")));
    us.change(us.read().initial(file("ap", "eu", "us")));
    meet();
    assertThat(eu.read().active()).containsExactly("ap", "eu", "us");
    assertThat(eu.read().all().values()).extracting(Member::rank).doesNotHaveDuplicates();
  }

  /** Or the first command would cut off whoever its datacenter's file has not heard of. */
  @Test
  void whoOnlyAnotherFileNames_isThere_andIsTold_unlessItHasGone() {
    eu.change(eu.read().initial(file("eu", "us")));
    us.hear(eu);
    SortedMap<String, Optional<String>> other = file("ap", "eu", "us");
    assertThat(us.read().with(other).active()).containsExactly("ap", "eu", "us");
    us.change(us.read().initial(us.read().unknown(other)));
    meet();
    assertThat(eu.read().active()).containsExactly("ap", "eu", "us");
    assertThat(eu.read().unknown(other)).isEmpty();
    eu.change(Membership.mark(eu.member("ap"), Member.State.REMOVED, "ada", 5, 0));
    us.hear(eu);
    assertThat(us.read().with(other).active()).containsExactly("eu", "us");
    assertThat(us.read().unknown(other)).isEmpty();
  }

  @Test
  void statesOnlyGoForward_whateverIsSaidAtOnce() {
    eu.change(eu.read().initial(file("eu", "us")));
    eu.change(eu.read().add("za", "za:1", "1-a", "ada", 1));
    meet();
    eu.change(Membership.mark(eu.member("za"), Member.State.LEAVING, "ada", 2, 0));
    us.change(Membership.mark(us.member("za"), Member.State.ACTIVE));
    assertThat(us.member("za").state()).isEqualTo(Member.State.ACTIVE);
    meet();
    assertThat(us.member("za").state()).isEqualTo(Member.State.LEAVING);
    us.change(Membership.mark(us.member("za"), Member.State.LEFT, "za", 9, 0));
    eu.change(Membership.mark(eu.member("za"), Member.State.REMOVED, "bob", 8, 0));
    meet();
    assertThat(us.member("za").state()).isEqualTo(Member.State.REMOVED);
    assertThat(us.member("za").goneMillis()).isPositive();

    // Another membership of the name begins anew, and knows when the last one ended.
    eu.change(eu.read().add("za", "za:2", "2-b", "ada", 20));
    meet();
    assertThat(us.member("za").state()).isEqualTo(Member.State.JOINING);
    assertThat(us.member("za").goneMillis()).isPositive();
    assertThat(us.member("za").address()).contains("za:2");
  }

  @Test
  void ifAllAreToldToLeave_theFirstStays() {
    eu.change(eu.read().initial(file("ap", "eu", "us")));
    meet();
    for (String name : List.of("us", "ap", "eu")) {
      eu.change(Membership.mark(eu.member(name), Member.State.LEAVING, "ada", 1, 0));
    }
    assertThat(eu.read().leaves("ap")).isFalse();
    assertThat(eu.read().leaves("eu")).isTrue();
    assertThat(eu.read().leaves("us")).isTrue();
    assertThat(eu.read().leaves("za")).isFalse();

    // Not one that has never had what the others have.
    eu.change(eu.read().add("aa", "aa:1", "1-a", "ada", 1));
    eu.change(Membership.mark(eu.member("aa"), Member.State.LEAVING, "ada", 2, 0));
    assertThat(eu.read().leaves("aa")).isTrue();
    assertThat(eu.read().leaves("ap")).isFalse();
  }

  @Test
  void stepsForOneThatGoes_areNoted_forThatMembership_byThatMembership() {
    eu.change(eu.read().initial(file("ap", "eu", "us")));
    meet();
    eu.change(Membership.mark(eu.member("ap"), Member.State.LEAVING, "ada", 1, 0));
    us.hear(eu);
    us.change(Membership.note(us.member("ap"), Member.Step.UNSHARED, us.member("us")));
    eu.change(Membership.note(eu.member("ap"), Member.Step.UNSHARED, eu.member("eu")));
    eu.change(Membership.note(eu.member("ap"), Member.Step.AGREED, eu.member("eu")));
    meet();
    Member going = us.member("ap");
    assertThat(going.has(Member.Step.UNSHARED, us.member("eu"))).isTrue();
    assertThat(going.has(Member.Step.UNSHARED, us.member("us"))).isTrue();
    assertThat(going.has(Member.Step.AGREED, us.member("eu"))).isTrue();
    assertThat(going.has(Member.Step.AGREED, us.member("us"))).isFalse();
    assertThat(Departures.haveAll(us.read(), going, Member.Step.UNSHARED)).isTrue();
    assertThat(Departures.haveAll(us.read(), going, Member.Step.AGREED)).isFalse();

    // Another membership of the one that noted it has not.
    eu.change(Membership.mark(eu.member("us"), Member.State.REMOVED, "ada", 5, 0));
    eu.change(eu.read().add("us", "us:2", "3-c", "ada", 20));
    eu.change(Membership.mark(eu.member("us"), Member.State.ACTIVE));
    assertThat(Departures.haveAll(eu.read(), eu.member("ap"), Member.Step.UNSHARED)).isFalse();
    eu.change(eu.read().add("ap", "ap:2", "2-b", "ada", 20));
    assertThat(eu.member("ap").notes()).isEmpty();
  }

  @Test
  void addressThatNobodyKnew_isToldLater() {
    SortedMap<String, Optional<String>> file = file("us");
    file.put("eu", Optional.empty());
    eu.change(eu.read().initial(file));
    assertThat(eu.member("eu").address()).isEmpty();
    us.hear(eu);
    us.change(Membership.address("eu", "eu:7401"));
    meet();
    assertThat(eu.member("eu").address()).contains("eu:7401");
    assertThat(Map.copyOf(eu.read().all())).hasSize(2);
  }
}
