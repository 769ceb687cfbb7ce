package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.CausalContext;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.History.Event;
import io.osier.crdt.History.Site;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Invariant I1 for every type, maps of every type and maps of maps included. */
final class JoinProperties {

  /** Single updates, joined groups and states, shuffled, some twice: always the same result. */
  @Property(tries = 2_000)
  void anyMixOfDeltasGroupsAndStates_givesTheSameState(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(40);
    Random random = new Random(seed ^ 1);
    List<Causal> parts = new ArrayList<>();
    for (Site site : history.sites) {
      parts.addAll(groups(site.own, random));
      if (random.nextBoolean()) {
        parts.add(site.state);
      }
    }
    for (int i = 0; i < 5 && !parts.isEmpty(); i++) {
      parts.add(parts.get(random.nextInt(parts.size())));
    }
    Causal expected = Causal.bottom(type);
    for (Event event : history.events) {
      expected = expected.join(event.delta());
    }
    for (int round = 0; round < 3; round++) {
      Collections.shuffle(parts, random);
      Causal joined = Causal.bottom(type);
      for (Causal part : parts) {
        joined = joined.join(part);
      }
      assertThat(joined).isEqualTo(expected);
    }
    history.finish();
    for (Site site : history.sites) {
      assertThat(site.state).isEqualTo(expected);
    }
  }

  /** A random partition of consecutive updates into joined groups. */
  private static List<Causal> groups(List<Event> events, Random random) {
    List<Causal> groups = new ArrayList<>();
    Causal group = null;
    for (Event event : events) {
      group = group == null ? event.delta() : group.join(event.delta());
      if (random.nextInt(3) == 0) {
        groups.add(group);
        group = null;
      }
    }
    if (group != null) {
      groups.add(group);
    }
    return groups;
  }

  @Property(tries = 1_000)
  void join_isCommutativeAssociativeAndIdempotent(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(30);
    Random random = new Random(seed ^ 2);
    Causal a = pick(history, random);
    Causal b = pick(history, random);
    Causal c = pick(history, random);
    assertThat(visible(a.join(b))).isEqualTo(visible(b.join(a)));
    assertThat(visible(a.join(b).join(c))).isEqualTo(visible(a.join(b.join(c))));
    assertThat(visible(a.join(a))).isEqualTo(visible(a));
    assertThat(visible(a.join(b).join(b))).isEqualTo(visible(a.join(b)));
  }

  /** The join that walks everything and knows nothing of mentions is the oracle. */
  @Property(tries = 1_000)
  void join_equalsTheDefinition(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(30);
    Random random = new Random(seed ^ 3);
    Causal a = pick(history, random);
    Causal b = pick(history, random);
    Joining everything = new Joining(a.context(), true, b.context(), true);
    DotStore<?> defined = Stores.join(a.store(), b.store(), everything);
    Causal joined = a.join(b);
    assertThat(visible(joined)).isEqualTo(stripped(defined, joined.context()));
  }

  /** A single update, a joined group, or a state. */
  private static Causal pick(History history, Random random) {
    Site site = history.sites.get(random.nextInt(3));
    if (site.own.isEmpty() || random.nextInt(3) == 0) {
      return site.state;
    }
    List<Causal> groups = groups(site.own, random);
    return groups.get(random.nextInt(groups.size()));
  }

  /** Without mentions, so that deltas can be compared by what they say. */
  private static Causal visible(Causal causal) {
    return stripped(causal.store(), causal.context());
  }

  private static Causal stripped(DotStore<?> store, CausalContext context) {
    Joining nothing = new Joining(CausalContext.EMPTY, true, context, true);
    return Causal.of(Stores.join(Stores.empty(store.type()), store, nothing), context, true);
  }

  @Property(tries = 1_000)
  void encoding_isReadBackAndEqualForEqualContent(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(40);
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
  void joinedDelta_isNeverLargerThanItsOperations(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(60);
    for (Site site : history.sites) {
      if (!site.own.isEmpty()) {
        int operations = site.own.stream().mapToInt(e -> bytes(e.delta())).sum();
        Causal joined = site.own.getFirst().delta();
        for (Event event : site.own) {
          joined = joined.join(event.delta());
        }
        assertThat(bytes(joined)).isLessThanOrEqualTo(operations);
      }
    }
  }

  /** As in a frame: the origin is known. */
  private static int bytes(Causal causal) {
    WireOutput out = new WireOutput();
    for (String name : List.of("a", "b", "c")) {
      out.presetReplica(new io.osier.core.ReplicaId(name, 1));
    }
    causal.writeBody(out);
    return out.position();
  }

  /** What is counted along the way agrees with what a walk finds. */
  @Property(tries = 500)
  void whatIsLeftWhenTrimmed_isKnownWithoutTrimming(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(60);
    List<Causal> all = new ArrayList<>();
    history.events.forEach(e -> all.add(e.delta()));
    history.sites.forEach(s -> all.add(s.state));
    Random random = new Random(seed ^ 4);
    for (int i = 0; i < 5; i++) {
      all.add(pick(history, random).join(pick(history, random)));
    }
    for (Causal causal : all) {
      assertThat(causal.store().isTrimmedEmpty()).isEqualTo(causal.trimmed().isEmpty());
      assertThat(causal.store().trimmed().isTrimmedEmpty()).isEqualTo(causal.trimmed().isEmpty());
    }
  }

  @Property(tries = 500)
  void sizeEstimate_isWithinAFactorOfTwo(@ForAll CrdtType type, @ForAll long seed) {
    History history = new History(type, seed).run(60);
    for (Site site : history.sites) {
      int encoded = Encoded.encode(site.state).length;
      assertThat(site.state.sizeBytes()).isBetween(encoded / 3L - 12, encoded * 2L + 12);
    }
  }
}
