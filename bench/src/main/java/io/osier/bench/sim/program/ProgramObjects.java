package io.osier.bench.sim.program;

import io.osier.bench.sim.plan.Unit;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The objects that programs are about, all of one partition. */
final class ProgramObjects {
  /** So many programs share their sets, so that these stay small. */
  static final int GROUP = 50;

  private static final List<CrdtType> SETS =
      List.of(CrdtType.AW_SET, CrdtType.G_SET, CrdtType.RW_SET);

  /** What a key that is renamed and copied holds, at times the one and at times the other. */
  static final List<CrdtType> MOVED = List.of(CrdtType.LWW_REGISTER, CrdtType.MV_REGISTER);

  private static final List<CrdtType> BAGS = List.of(CrdtType.AW_SET, CrdtType.RW_SET);

  private final Unit unit;

  /** The keys by their purpose. */
  private final Map<String, Key> named = new HashMap<>();

  private int keys;

  ProgramObjects(Unit unit) {
    this.unit = unit;
  }

  private Key key(String what) {
    return named.computeIfAbsent(what, w -> unit.key(() -> "program-wild-" + ++keys));
  }

  /** The sets to which the programs of a group add their numbers. */
  List<ObjectId> sets(int group) {
    return SETS.stream().map(type -> new ObjectId(key(type + " of group " + group), type)).toList();
  }

  /** How many programs of a group a datacenter has done. */
  ObjectId counter(int group, ReplicaId of) {
    return new ObjectId(key("counter of " + of + " of group " + group), CrdtType.PN_COUNTER);
  }

  /** What a datacenter's programs with a guard assign to. */
  ObjectId register(ReplicaId of) {
    return new ObjectId(key("register of " + of), CrdtType.LWW_REGISTER);
  }

  /** A set to which a datacenter's programs add their numbers, and from which they take others. */
  ObjectId bag(ReplicaId of) {
    CrdtType type = BAGS.get(Math.floorMod(of.toString().hashCode(), BAGS.size()));
    return new ObjectId(key("bag of " + of), type);
  }

  /** What a datacenter's programs fill, move on and copy: the first key is always empty after. */
  List<Key> moved(ReplicaId of) {
    return List.of(key("first of " + of), key("second of " + of), key("copy of " + of));
  }

  /** What shows the programs of a group: the sets, and a counter for each who does some. */
  List<ObjectId> shown(int group, List<ReplicaId> counted) {
    List<ObjectId> all = new ArrayList<>(sets(group));
    counted.forEach(of -> all.add(counter(group, of)));
    return all;
  }
}
