package io.osier.propagation.wire;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.memory.HeapSize;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One object's updates as they are shipped: one operation, a joined delta, or the full state. The
 * content is encoded once, when it is first needed: for the estimate of its size, the journal or a
 * peer's frame. Immutable; thread-safe.
 */
public final class Shipment {
  private final ObjectId object;
  private final ReplicaId origin;
  private final long predecessor;
  private final VersionVector needs;
  private final long last;
  private final int updates;
  private final long ageMillis;
  private final CrdtState content;

  /** The content's bytes if it is a state, and was encoded; a delta keeps its own. */
  private volatile byte @Nullable [] state;

  public Shipment(
      ObjectId object,
      ReplicaId origin,
      long predecessor,
      VersionVector needs,
      long last,
      int updates,
      long ageMillis,
      CrdtState content) {
    this.object = object;
    this.origin = origin;
    this.predecessor = predecessor;
    this.needs = needs;
    this.last = last;
    this.updates = updates;
    this.ageMillis = ageMillis;
    this.content = content;
  }

  /** Returns the object. */
  public ObjectId object() {
    return object;
  }

  /** Returns the replica whose commit numbers {@link #predecessor} and {@link #last} are. */
  public ReplicaId origin() {
    return origin;
  }

  /**
   * Returns the origin's commit number on this object right before the shipped updates: the
   * receiver must have it (invariant I2). 0 for a full state, which needs nothing before it, unless
   * it is a clearing.
   */
  public long predecessor() {
    return predecessor;
  }

  /**
   * Returns the updates of other replicas that the origin had seen of this object when it made the
   * updates, as far as the receiver may not have them yet, for causal order per object. Empty for a
   * full state, which brings them along.
   */
  public VersionVector needs() {
    return needs;
  }

  /** Returns the origin's last commit number on this object that is shipped. */
  public long last() {
    return last;
  }

  /** Returns how many updates of the origin are joined in it, at least 1; 0 if not known. */
  public int updates() {
    return updates;
  }

  /** Returns how long before the frame was sent the oldest of them was committed. */
  public long ageMillis() {
    return ageMillis;
  }

  public CrdtState content() {
    return content;
  }

  /** Returns the content's bytes, see {@link StateCodec#pack}; they are made once. */
  byte[] packed() {
    if (!content.isFull()) {
      return StateCodec.pack(content);
    }
    byte[] known = state;
    if (known == null) {
      known = StateCodec.pack(content);
      state = known;
    }
    return known;
  }

  /** Returns about how many bytes the shipment takes in the heap. */
  public long heapBytes() {
    return HeapSize.object(5 * HeapSize.REFERENCE + 3 * Long.BYTES + Integer.BYTES)
        + object.heapBytes()
        + needs.heapBytes()
        + content.heapBytes();
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof Shipment s
            && object.equals(s.object)
            && origin.equals(s.origin)
            && predecessor == s.predecessor
            && needs.equals(s.needs)
            && last == s.last
            && updates == s.updates
            && ageMillis == s.ageMillis
            && content.equals(s.content));
  }

  @Override
  public int hashCode() {
    return Objects.hash(object, origin, predecessor, needs, last, updates, ageMillis, content);
  }

  @Override
  public String toString() {
    return ("Shipment[object=%s, origin=%s, predecessor=%d, needs=%s, last=%d, updates=%d,"
            + " age=%d ms, %s]")
        .formatted(object, origin, predecessor, needs, last, updates, ageMillis, content);
  }
}
