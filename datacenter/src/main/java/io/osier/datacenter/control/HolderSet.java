package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import io.osier.datacenter.control.HolderState.Note;
import io.osier.datacenter.control.HolderState.Removal;
import io.osier.datacenter.control.HolderState.Step;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The holders of a keyspace, as {@code _osier} has them at one moment. Immutable and pure.
 *
 * <p>The first holders are the replicas with which the keyspace was created, or that the
 * configuration file names. Holders are added and removed while all serve, by fields of the
 * keyspace's map:
 *
 * <pre>
 *   _first               register: the replicas that it began with; counts, and the file does not,
 *                        from the first change on
 *   _holder.DC           register: this one was added
 *   _again DC TERM       flag: it was added again after it was removed
 *   _holds DC [TERM]     flag: it has what the others hold
 *   _removal DC ID       flag: it was told to give the keyspace up; the id is its term, and how often
 *                        it has stayed in that: who tells it at once elsewhere means the same
 *   _STEP DC ID BY       flag: BY has taken a step for that
 *   _gone DC TERM        flag: it holds nothing any more
 * </pre>
 *
 * <p>Each field has the creation that is meant in its value, or at the end of its name, so that
 * records of a dropped keyspace do not count for a later one of its name. Flags are only ever
 * enabled, and removed when their term is over, so concurrent commands of operators have the same
 * result everywhere. If so many holders were told to leave that fewer would stay than the
 * keyspace's rules ask for (at least one), the first of them by name stay.
 *
 * @param first the first replicas; empty means all datacenters
 * @param states the states of all that ever were holders; empty if all datacenters are
 */
record HolderSet(List<String> first, SortedMap<String, HolderState> states) {
  private static final String FIRST = "_first";
  private static final String HOLDER = "_holder.";
  private static final String HOLDS = "_holds";
  private static final String AGAIN = "_again";
  private static final String REMOVAL = "_removal";
  private static final String GONE = "_gone";

  private static final HolderState ALWAYS =
      new HolderState(0, true, false, false, 0, Optional.empty());

  HolderSet {
    first = List.copyOf(first);
    states = new TreeMap<>(states);
  }

  /** Returns the holders of a keyspace without changes. */
  static HolderSet of(List<String> first) {
    SortedMap<String, HolderState> states = new TreeMap<>();
    first.forEach(dc -> states.put(dc, ALWAYS));
    return new HolderSet(first, states);
  }

  /**
   * Reads the holders.
   *
   * @param keyspace the keyspace's map
   * @param creation of the keyspace
   * @param policy the keyspace's policy at its creation, or in the file
   * @param staying the present datacenters that have caught up and do not leave
   */
  static HolderSet of(
      Reading keyspace, String creation, KeyspacePolicy policy, Collection<String> staying) {
    SortedMap<String, String> texts = ControlState.texts(keyspace);
    String began = texts.getOrDefault(FIRST, "");
    List<String> first =
        began.startsWith(creation + " ")
            ? Arrays.stream(began.substring(creation.length() + 1).split(",", -1))
                .filter(name -> !name.isEmpty())
                .toList()
            : policy.replicas();
    if (first.isEmpty()) {
      return of(first);
    }
    Set<String> ever = new TreeSet<>(first);
    texts.forEach(
        (field, value) -> {
          if (field.startsWith(HOLDER) && value.equals(creation)) {
            ever.add(field.substring(HOLDER.length()));
          }
        });
    Set<List<String>> flags = flags(keyspace, creation);
    SortedMap<String, HolderState> states = new TreeMap<>();
    for (String dc : ever) {
      states.put(dc, state(dc, first.contains(dc), flags));
    }
    return new HolderSet(first, resolved(states, staying, policy.rules().least()));
  }

  /** Returns the words of a creation's flags, without the creation. */
  private static Set<List<String>> flags(Reading keyspace, String creation) {
    Set<List<String>> flags = new HashSet<>();
    if (keyspace instanceof Reading.Fields of) {
      of.fields()
          .forEach(
              (field, reading) -> {
                List<String> words = List.of(field.name().split(" ", -1));
                if (reading instanceof Reading.Flag flag
                    && flag.value()
                    && words.size() > 1
                    && words.getLast().equals(creation)) {
                  flags.add(words.subList(0, words.size() - 1));
                }
              });
    }
    return flags;
  }

  private static HolderState state(String dc, boolean isFirst, Set<List<String>> flags) {
    int term = 0;
    while (flags.contains(again(dc, term + 1))) {
      term++;
    }
    boolean isWhole = (isFirst && term == 0) || flags.contains(holds(dc, term));
    boolean isGone = flags.contains(gone(dc, term));
    int stayed = 0;
    while (flags.contains(note(dc, term + "." + stayed, Step.STAYS, dc))) {
      stayed++;
    }
    HolderState state = new HolderState(term, isWhole, isGone, false, stayed, Optional.empty());
    String id = state.removalId();
    return isGone || !flags.contains(List.of(REMOVAL, dc, id))
        ? state
        : new HolderState(
            term,
            isWhole,
            false,
            false,
            stayed,
            Optional.of(new Removal(id, notes(dc, id, flags))));
  }

  private static Set<Note> notes(String dc, String id, Set<List<String>> flags) {
    Set<Note> notes = new HashSet<>();
    for (Step step : Step.values()) {
      List<String> begins = List.of(step.label(), dc, id);
      flags.stream()
          .filter(words -> words.size() == begins.size() + 1)
          .filter(words -> words.subList(0, begins.size()).equals(begins))
          .forEach(words -> notes.add(new Note(step, words.getLast())));
    }
    return notes;
  }

  /** Returns the states with those that leave marked. */
  private static SortedMap<String, HolderState> resolved(
      SortedMap<String, HolderState> states, Collection<String> staying, int least) {
    List<String> candidates = new ArrayList<>();
    List<String> stay = new ArrayList<>();
    states.forEach(
        (dc, of) -> {
          if (staying.contains(dc) && of.serves()) {
            candidates.add(dc);
            if (of.removal().isEmpty()) {
              stay.add(dc);
            }
          }
        });
    candidates.removeAll(stay);
    candidates.stream().limit(Math.max(0, least - stay.size())).forEach(stay::add);
    SortedMap<String, HolderState> resolved = new TreeMap<>();
    for (Map.Entry<String, HolderState> e : states.entrySet()) {
      HolderState of = e.getValue();
      boolean leaves = of.removal().isPresent() && !stay.isEmpty() && !stay.contains(e.getKey());
      resolved.put(
          e.getKey(),
          new HolderState(of.term(), of.isWhole(), of.isGone(), leaves, of.stayed(), of.removal()));
    }
    return resolved;
  }

  // ---------------------------------------------------------------- queries

  /** Returns the policy with all holders, those included that are still joining: they replicate. */
  KeyspacePolicy all(KeyspacePolicy policy) {
    return with(policy, of -> !of.isGone());
  }

  /** Returns the policy with the holders that serve requests. */
  KeyspacePolicy whole(KeyspacePolicy policy) {
    return with(policy, HolderState::serves);
  }

  private KeyspacePolicy with(KeyspacePolicy policy, Predicate<HolderState> which) {
    if (first.isEmpty()) {
      return policy.withReplicas(List.of());
    }
    List<String> names = those(which);
    return policy.withReplicas(names.isEmpty() ? first : names); // none would mean all
  }

  /** Returns the datacenters whose states match, by name. */
  List<String> those(Predicate<HolderState> which) {
    return states.keySet().stream().filter(dc -> which.test(of(dc))).toList();
  }

  /** Returns a datacenter's state; a datacenter that was never a holder holds nothing. */
  HolderState of(String dc) {
    return first.isEmpty()
        ? ALWAYS
        : states.getOrDefault(dc, new HolderState(0, false, true, false, 0, Optional.empty()));
  }

  /** Returns whether a datacenter is a former holder, whose data must be dropped. */
  boolean isGone(String dc) {
    return states.containsKey(dc) && of(dc).isGone();
  }

  /** Returns whether no holder was added or told to leave. */
  boolean isFirst() {
    return equals(of(first));
  }

  // ---------------------------------------------------------------- changes

  /** Returns the registers that add datacenters. */
  SortedMap<String, String> adding(Collection<String> dcs, String creation) {
    SortedMap<String, String> fields = new TreeMap<>();
    fields.put(FIRST, creation + " " + String.join(",", first));
    dcs.stream()
        .filter(dc -> !first.contains(dc))
        .forEach(dc -> fields.put(HOLDER + ReplicaId.checkDcName(dc), creation));
    return fields;
  }

  /**
   * Returns the operations that add those of these datacenters again that were holders before. The
   * flags of their former terms have no meaning any more, and are removed.
   */
  List<Operation> again(String keyspace, Collection<String> dcs, String creation) {
    List<String> former = dcs.stream().filter(states.keySet()::contains).toList();
    if (former.isEmpty()) {
      return List.of();
    }
    List<FieldId> flags =
        former.stream().map(dc -> flag(again(dc, of(dc).term() + 1), creation)).toList();
    List<String> over =
        former.stream().flatMap(this::flagsOf).map(words -> named(words, creation)).toList();
    return List.of(
        update(keyspace, flags),
        new Operation.UpdateFields(
            new FieldId(keyspace, CrdtType.OR_MAP), new Operation.RemoveFields(over)));
  }

  /** Returns all flags that a holder's present term may have. */
  private Stream<List<String>> flagsOf(String dc) {
    HolderState of = of(dc);
    List<List<String>> all = new ArrayList<>(List.of(holds(dc, of.term()), gone(dc, of.term())));
    for (int stayed = 0; stayed <= of.stayed(); stayed++) {
      String id = of.term() + "." + stayed;
      all.add(List.of(REMOVAL, dc, id));
      for (Step step : Step.values()) {
        states.keySet().forEach(by -> all.add(note(dc, id, step, by)));
      }
    }
    return all.stream();
  }

  /** Returns the operation that tells datacenters to leave the keyspace. */
  Operation removing(String keyspace, Collection<String> dcs, String creation) {
    return update(
        keyspace,
        dcs.stream().map(dc -> flag(List.of(REMOVAL, dc, of(dc).removalId()), creation)).toList());
  }

  /** Returns the operation that notes that a datacenter has the other holders' data. */
  Operation holds(String keyspace, String dc, String creation) {
    return update(keyspace, List.of(flag(holds(dc, of(dc).term()), creation)));
  }

  /** Returns the operation that notes a datacenter's step for the removal of a holder. */
  Operation note(String keyspace, String dc, Step step, String by, String creation) {
    String id = of(dc).removal().orElseThrow().id();
    return update(keyspace, List.of(flag(note(dc, id, step, by), creation)));
  }

  /** Returns the operation that notes that a datacenter holds nothing any more. */
  Operation gone(String keyspace, String dc, String creation) {
    return update(keyspace, List.of(flag(gone(dc, of(dc).term()), creation)));
  }

  private static List<String> holds(String dc, int term) {
    return term == 0 ? List.of(HOLDS, dc) : List.of(HOLDS, dc, String.valueOf(term));
  }

  private static List<String> again(String dc, int term) {
    return List.of(AGAIN, dc, String.valueOf(term));
  }

  private static List<String> gone(String dc, int term) {
    return List.of(GONE, dc, String.valueOf(term));
  }

  private static List<String> note(String dc, String id, Step step, String by) {
    return List.of(step.label(), dc, id, by);
  }

  private static FieldId flag(List<String> words, String creation) {
    return new FieldId(named(words, creation), CrdtType.EW_FLAG);
  }

  private static String named(List<String> words, String creation) {
    return String.join(" ", words) + " " + creation;
  }

  private static Operation update(String keyspace, List<FieldId> flags) {
    return ControlState.update(keyspace, new TreeMap<>(), flags);
  }
}
