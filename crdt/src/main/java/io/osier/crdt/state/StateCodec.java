package io.osier.crdt.state;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.expiry.Expiry;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;

/** The bytes of states and deltas, all but their type and whether they are full. Thread-safe. */
public final class StateCodec {
  private StateCodec() {}

  /** See {@link CrdtState#packed}. */
  static byte[] pack(CrdtState state) {
    return WireOutput.bytesOf(
        out -> {
          CausalContext context = state.context();
          for (int i = 0; i < context.size(); i++) {
            out.presetReplica(context.replica(i));
          }
          out.writeRanges(context);
          writeContent(out, state);
        });
  }

  /**
   * Reads what {@link CrdtState#packed} gave. A delta keeps the bytes.
   *
   * @param form what {@link CrdtState#form} was
   * @param replicas the context's, in its order
   */
  public static CrdtState unpack(int form, boolean full, List<ReplicaId> replicas, WireInput in) {
    int from = in.position();
    CrdtState content =
        in.readPart(
            replicas, part -> readContent(form, part.readRanges(replicas), replicas, full, part));
    if (!full) {
      content.keepPacked(in.readSince(from));
    }
    return content;
  }

  /** Writes a context with its replicas, and a content. */
  public static void write(WireOutput out, CrdtState state) {
    out.writeContext(state.context());
    writeContent(out, state);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param form what {@link CrdtState#form} was
   */
  public static CrdtState read(int form, boolean full, WireInput in) {
    CausalContext context = in.readContext();
    return readContent(form, context, context.replicas(), full, in);
  }

  /** Writes a content without its context; equal contents give equal bytes. */
  public static void writeContent(WireOutput out, CrdtState state) {
    state.store().write(out);
    if (state.expires()) {
      state.expiry().write(out, state.store());
    }
  }

  /**
   * Reads a content.
   *
   * @param replicas the context's
   */
  private static CrdtState readContent(
      int form, CausalContext context, List<ReplicaId> replicas, boolean full, WireInput in) {
    // A delta is joined and written again soon; what is packed would be read twice.
    DotStore<?> store = TypeRegistry.read(ObjectForm.type(form), in, full ? replicas : List.of());
    Expiry expiry =
        ObjectForm.expires(form)
            ? Expiry.read(in, store, full, full ? replicas : List.of())
            : Expiry.NONE;
    return CrdtState.of(store, expiry, context, full);
  }
}
