package io.osier.crdt;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the bytes of an object say to a query without being decoded: a counter's value, a register,
 * a flag, whether a set has an element and how many, one field of a map that is one of the former,
 * and whether there is an object. Only what that needs is read, in one pass; what lies behind it is
 * not looked at.
 *
 * @param type the object's
 * @param reading as {@link Causal#read} gives it
 * @param seen the last numbers in the object's context
 */
public record PackedAnswer(CrdtType type, Reading reading, VersionVector seen) {
  /**
   * Answers a query from what {@link Causal#packed} gave of a state.
   *
   * @param form what {@link Causal#form} was
   * @param replicas the context's, in its order
   * @param in knows no replicas yet; where it stands afterwards says nothing
   * @return null where only the decoded object answers: of what has deadlines, which depends on the
   *     time; where a reader sees nothing; concurrent values of a register; other queries and types
   */
  public static @Nullable PackedAnswer of(
      int form, List<ReplicaId> replicas, Query query, WireInput in) {
    CrdtType type = Causal.typeOf(form);
    if (Causal.expires(form) || !Stores.mayReadPacked(type, query)) {
      return null;
    }
    for (int i = 0; i < replicas.size(); i++) { // no iterator: reads are many
      in.presetReplica(replicas.get(i));
    }
    VersionVector seen = in.readLasts(replicas);
    Reading reading = Stores.readPacked(type, query, in);
    return reading == null ? null : new PackedAnswer(type, reading, seen);
  }
}
