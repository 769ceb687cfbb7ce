package io.osier.crdt.expiry;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.Encoded;
import io.osier.crdt.JoinContext;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.crdt.types.History;
import io.osier.crdt.types.History.Event;
import io.osier.crdt.types.History.Pick;
import io.osier.crdt.types.History.Picks;
import io.osier.crdt.types.History.Plan;
import io.osier.crdt.types.History.Plans;
import io.osier.crdt.types.History.Site;
import io.osier.crdt.types.TypeRegistry;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Invariant I1 for every type, maps of every type and maps of maps included. */
final class JoinProperties {

  /**
   * Single updates, joined groups and states, in any order, some twice, always give the same
   * result.
   */
  @Property(tries = 2_000)
  void anyMixOfDeltasGroupsAndStates_givesTheSameState(
      @ForAll(supplier = Plans.class) Plan plan,
      @ForAll @Size(max = 10) Set<@IntRange(max = 20) Integer> groupsBeginAt,
      @ForAll @Size(max = 8) List<@From(supplier = Picks.class) Pick> more,
      @ForAll @Size(max = 3) List<@Size(max = 30) List<@IntRange(max = 60) Integer>> orders) {
    History history = plan.run();
    List<CrdtState> parts = new ArrayList<>();
    for (Site site : history.sites) {
      parts.addAll(groups(site.own, groupsBeginAt));
    }
    more.forEach(pick -> parts.add(history.part(pick)));
    CrdtState expected = CrdtState.bottom(plan.type());
    for (Event event : history.events) {
      expected = expected.join(event.delta());
    }
    for (List<Integer> order : orders) {
      CrdtState joined = CrdtState.bottom(plan.type());
      for (CrdtState part : History.ordered(parts, order)) {
        joined = joined.join(part);
      }
      assertThat(joined).isEqualTo(expected);
    }
    history.finish();
    for (Site site : history.sites) {
      assertThat(site.state).isEqualTo(expected);
    }
  }

  /** Returns consecutive updates as joined groups. */
  private static List<CrdtState> groups(List<Event> events, Set<Integer> beginAt) {
    List<CrdtState> groups = new ArrayList<>();
    int from = 0;
    for (int i = 1; i <= events.size(); i++) {
      if (i == events.size() || beginAt.contains(i)) {
        groups.add(History.joined(events.subList(from, i)));
        from = i;
      }
    }
    return groups;
  }

  @Property(tries = 1_000)
  void join_isCommutativeAssociativeAndIdempotent(
      @ForAll(supplier = Plans.class) Plan plan,
      @ForAll(supplier = Picks.class) Pick first,
      @ForAll(supplier = Picks.class) Pick second,
      @ForAll(supplier = Picks.class) Pick third) {
    History history = plan.run();
    CrdtState a = history.part(first);
    CrdtState b = history.part(second);
    CrdtState c = history.part(third);
    assertThat(visible(a.join(b))).isEqualTo(visible(b.join(a)));
    assertThat(visible(a.join(b).join(c))).isEqualTo(visible(a.join(b.join(c))));
    assertThat(visible(a.join(a))).isEqualTo(visible(a));
    assertThat(visible(a.join(b).join(b))).isEqualTo(visible(a.join(b)));
  }

  /** The join that walks everything and knows nothing of mentions is the oracle. */
  @Property(tries = 1_000)
  void join_equalsTheDefinition(
      @ForAll(supplier = Plans.class) Plan plan,
      @ForAll(supplier = Picks.class) Pick first,
      @ForAll(supplier = Picks.class) Pick second) {
    History history = plan.run();
    CrdtState a = history.part(first);
    CrdtState b = history.part(second);
    JoinContext everything = new JoinContext(a.context(), true, b.context(), true);
    DotStore<?> defined = TypeRegistry.join(a.store(), b.store(), everything);
    CrdtState joined = a.join(b);
    Expiry until = a.expiry().join(b.expiry(), a.store(), b.store(), defined, everything);
    assertThat(visible(joined)).isEqualTo(stripped(defined, until, joined.context()));
  }

  /** Returns a state without mentions, so that deltas can be compared by their content. */
  private static CrdtState visible(CrdtState causal) {
    return stripped(causal.store(), causal.expiry(), causal.context());
  }

  private static CrdtState stripped(DotStore<?> store, Expiry expiry, CausalContext context) {
    JoinContext nothing = new JoinContext(CausalContext.EMPTY, true, context, true);
    DotStore<?> empty = TypeRegistry.empty(store.type());
    DotStore<?> bare = TypeRegistry.join(empty, store, nothing);
    return CrdtState.of(bare, Expiry.NONE.join(expiry, empty, store, bare, nothing), context, true);
  }

  @Property(tries = 1_000)
  void encoding_isReadBackAndEqualForEqualContent(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Event event : history.events) {
      assertThat(Encoded.decode(Encoded.encode(event.delta()))).isEqualTo(event.delta());
    }
    history.finish();
    byte[] first = Encoded.encode(history.sites.getFirst().state);
    assertThat(Encoded.decode(first)).isEqualTo(history.sites.getFirst().state);
    for (Site site : history.sites) {
      assertThat(Encoded.encode(site.state)).isEqualTo(first);
    }
  }

  @Property(tries = 1_000)
  void joinedDelta_isNeverLargerThanItsOperations(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      if (!site.own.isEmpty()) {
        int operations = site.own.stream().mapToInt(e -> bytes(e.delta())).sum();
        assertThat(bytes(History.joined(site.own))).isLessThanOrEqualTo(operations);
      }
    }
  }

  /** Returns the size as in a frame, where the origin is known. */
  private static int bytes(CrdtState causal) {
    WireOutput out = new WireOutput();
    for (String name : List.of("a", "b", "c")) {
      out.presetReplica(new io.osier.core.ReplicaId(name, 1));
    }
    StateCodec.write(out, causal);
    return out.position();
  }

  /** Sums that are kept up to date agree with the sums of a walk. */
  @Property(tries = 500)
  void whatIsLeftWhenTrimmed_isKnownWithoutTrimming(
      @ForAll(supplier = Plans.class) Plan plan,
      @ForAll @Size(5) List<@From(supplier = Picks.class) Pick> left,
      @ForAll @Size(5) List<@From(supplier = Picks.class) Pick> right) {
    History history = plan.run();
    List<CrdtState> all = new ArrayList<>();
    history.events.forEach(e -> all.add(e.delta()));
    history.sites.forEach(s -> all.add(s.state));
    for (int i = 0; i < left.size(); i++) {
      all.add(history.part(left.get(i)).join(history.part(right.get(i))));
    }
    for (CrdtState causal : all) {
      assertThat(causal.store().isTrimmedEmpty()).isEqualTo(causal.trimmed().store().isEmpty());
      assertThat(causal.store().trimmed().isTrimmedEmpty())
          .isEqualTo(causal.trimmed().store().isEmpty());
    }
  }

  @Property(tries = 500)
  void sizeEstimate_isWithinAFactorOfTwo(@ForAll(supplier = Plans.class) Plan plan) {
    History history = plan.run();
    for (Site site : history.sites) {
      int encoded = Encoded.encode(site.state).length;
      assertThat(site.state.sizeBytes()).isBetween(encoded / 3L - 24, encoded * 2L + 24);
    }
  }
}
