package io.osier.crdt.state;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the bytes of an object say to a query without being decoded: a counter's value, a register,
 * a flag, whether a set has an element and how many, one field of a map that is one of the former,
 * and whether there is an object. Only what that needs is read, in one pass; what lies behind it is
 * not looked at.
 *
 * @param reading as {@link CrdtState#read} gives it
 * @param seen the last numbers in the object's context
 */
public record PackedReader(CrdtType type, Reading reading, VersionVector seen) {
  /**
   * Answers a query from what {@link StateCodec#pack} gave of a state.
   *
   * @param form what {@link CrdtState#form} was
   * @param replicas the context's, in its order
   * @param in knows no replicas yet; where it stands afterwards says nothing
   * @return null where only the decoded object answers: of what has deadlines, which depends on the
   *     time; where a reader sees nothing; concurrent values of a register; other queries and types
   */
  public static @Nullable PackedReader of(
      int form, List<ReplicaId> replicas, Query query, WireInput in) {
    CrdtType type = ObjectForm.type(form);
    if (ObjectForm.expires(form) || !TypeRegistry.mayReadPacked(type, query)) {
      return null;
    }
    for (int i = 0; i < replicas.size(); i++) { // no iterator: reads are many
      in.presetReplica(replicas.get(i));
    }
    VersionVector seen = in.readLasts(replicas);
    Reading reading = TypeRegistry.readPacked(type, query, in);
    return reading == null ? null : new PackedReader(type, reading, seen);
  }
}
