package io.osier.datacenter.control;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Who holds a keyspace, as {@code _osier} says at one moment. Immutable and pure.
 *
 * <p>It begins with the replicas that the keyspace was created with, or that the configuration file
 * names. Others are added while all serve, by fields of the keyspace's map:
 *
 * <pre>
 *   _first          register: the replicas that it began with; counts, and the file does not, from
 *                   the first addition on
 *   _holder.DC      register: this one was added
 *   _holds DC       flag: it has what the others hold; enabled and never disabled
 * </pre>
 *
 * <p>Each has the creation that is meant in its value or name, so that what is told of a keyspace
 * that was dropped meanwhile does not count for a later one of its name. A holder is added, then
 * holds, and goes on so: what operators at several datacenters add at once is added together.
 *
 * @param first the replicas that it began with; empty means all
 * @param added of those that were added, whether it has what the others hold
 */
record HolderSet(List<String> first, SortedMap<String, Boolean> added) {
  /** What stands for the creation of a keyspace that the configuration files name. */
  static final String FROM_FILE = "file";

  private static final String FIRST = "_first";
  private static final String HOLDER = "_holder.";
  private static final String HOLDS = "_holds ";

  HolderSet {
    first = List.copyOf(first);
    added = new TreeMap<>(added);
  }

  /**
   * Reads it.
   *
   * @param keyspace the keyspace's map
   * @param creation of the keyspace
   * @param policy as the keyspace was created, or as the file has it
   */
  static HolderSet of(Reading keyspace, String creation, KeyspacePolicy policy) {
    SortedMap<String, String> texts = ControlState.texts(keyspace);
    SortedMap<String, Boolean> added = new TreeMap<>();
    texts.forEach(
        (field, value) -> {
          if (field.startsWith(HOLDER) && value.equals(creation)) {
            String dc = field.substring(HOLDER.length());
            added.put(dc, isMarked(keyspace, dc, creation));
          }
        });
    if (added.isEmpty()) {
      return new HolderSet(policy.replicas(), added);
    }
    String began = texts.getOrDefault(FIRST, creation + " ");
    List<String> first =
        began.startsWith(creation + " ")
            ? names(began.substring(creation.length() + 1))
            : policy.replicas();
    if (!first.isEmpty()) {
      added.keySet().removeAll(first);
    }
    return new HolderSet(first, added);
  }

  private static List<String> names(String text) {
    return Arrays.stream(text.split(",", -1)).filter(name -> !name.isEmpty()).toList();
  }

  private static boolean isMarked(Reading keyspace, String dc, String creation) {
    return keyspace instanceof Reading.Fields of
        && of.fields().get(mark(dc, creation)) instanceof Reading.Flag flag
        && flag.value();
  }

  private static FieldId mark(String dc, String creation) {
    return new FieldId(HOLDS + dc + " " + creation, CrdtType.EW_FLAG);
  }

  /** A policy of the keyspace with all that are to hold it: they replicate. */
  KeyspacePolicy all(KeyspacePolicy policy) {
    return with(policy, added.keySet());
  }

  /** A policy of the keyspace with those that have what it holds: they serve. */
  KeyspacePolicy whole(KeyspacePolicy policy) {
    return with(policy, added.keySet().stream().filter(dc -> !catchesUp(dc)).toList());
  }

  private KeyspacePolicy with(KeyspacePolicy policy, Collection<String> more) {
    if (first.isEmpty()) {
      return policy.withReplicas(List.of());
    }
    List<String> names = new ArrayList<>(first);
    names.addAll(more);
    return policy.withReplicas(names);
  }

  /** Whether a datacenter was added and has not what the others hold yet. */
  boolean catchesUp(String dc) {
    return !first.isEmpty() && Boolean.FALSE.equals(added.get(dc));
  }

  /** Whether nobody was added. */
  boolean isFirst() {
    return added.isEmpty();
  }

  // ---------------------------------------------------------------- changes

  /** The registers that add datacenters. */
  SortedMap<String, String> adding(Collection<String> dcs, String creation) {
    SortedMap<String, String> fields = new TreeMap<>();
    fields.put(FIRST, creation + " " + String.join(",", first));
    dcs.forEach(dc -> fields.put(HOLDER + ReplicaId.checkDcName(dc), creation));
    return fields;
  }

  /** Notes that a datacenter has what the others hold. */
  static Operation holds(String keyspace, String dc, String creation) {
    return new Operation.UpdateFields(
        new FieldId(keyspace, CrdtType.OR_MAP),
        new Operation.UpdateFields(
            List.of(new Operation.FieldUpdate(mark(dc, creation), new Operation.SetFlag(true)))));
  }
}
