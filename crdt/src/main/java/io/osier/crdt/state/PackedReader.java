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
 * Answers queries from the bytes of an object without decoding it: a counter's value, a register, a
 * flag, whether a set has an element and how many, one field of a map that is one of the former,
 * and whether there is an object. It reads only what the answer needs, in one pass, and does not
 * check the rest.
 *
 * @param reading as {@link CrdtState#read} returns it
 * @param seen the last numbers in the object's context
 */
public record PackedReader(CrdtType type, Reading reading, VersionVector seen) {
  /**
   * Answers a query from the bytes that {@link StateCodec#pack} made of a state.
   *
   * @param form the value of {@link CrdtState#form}
   * @param replicas the context's, in its order
   * @param in knows no replicas yet; its position afterwards is undefined
   * @return null if only the decoded object can answer: if it has deadlines, which depend on the
   *     time; if a reader sees nothing; for concurrent values of a register; for other queries and
   *     types
   */
  public static @Nullable PackedReader of(
      int form, List<ReplicaId> replicas, Query query, WireInput in) {
    CrdtType type = ObjectForm.type(form);
    if (ObjectForm.expires(form) || !TypeRegistry.mayReadPacked(type, query)) {
      return null;
    }
    for (int i = 0; i < replicas.size(); i++) { // no iterator, since reads are many
      in.presetReplica(replicas.get(i));
    }
    VersionVector seen = in.readLasts(replicas);
    Reading reading = TypeRegistry.readPacked(type, query, in);
    return reading == null ? null : new PackedReader(type, reading, seen);
  }
}
