package io.osier.crdt.state;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.expiry.Expiry;
import io.osier.crdt.types.TypeRegistry;
import java.util.List;

/** Encodes states and deltas, with or without their form. Thread-safe. */
public final class StateCodec {
  private StateCodec() {}

  /**
   * Returns the bytes of a state without its type, its context's replicas and whether it is full.
   * Replicas are numbered as in the context, so the bytes are the same everywhere: in a journal, or
   * in a frame to any peer. Those of a delta are made once and kept. Not to be changed.
   */
  public static byte[] pack(CrdtState state) {
    byte[] known = state.packed();
    if (known != null) {
      return known;
    }
    byte[] bytes = encode(state);
    if (!state.isFull()) {
      state.keepPacked(bytes);
    }
    return bytes;
  }

  private static byte[] encode(CrdtState state) {
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
   * Decodes what {@link #pack} returned. A delta keeps the bytes.
   *
   * @param form the value of {@link CrdtState#form}
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

  /** Writes everything that decoding needs: type, whether it is full, context and content. */
  public static void writeAll(WireOutput out, CrdtState state) {
    int form = state.form();
    out.writeByte((ObjectForm.bits(form) << 1) | (state.isFull() ? 1 : 0));
    ObjectForm.writeRest(out, form);
    write(out, state);
  }

  /** Reads what {@link #writeAll} wrote. */
  public static CrdtState readAll(WireInput in) {
    int head = in.readByteUnsigned();
    return read(ObjectForm.read(head >> 1, in), (head & 1) == 1, in);
  }

  /** Writes a context with its replicas, and a content. */
  public static void write(WireOutput out, CrdtState state) {
    out.writeContext(state.context());
    writeContent(out, state);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param form the value of {@link CrdtState#form}
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
    // A delta is soon joined and written again, so packing its leaves would only cost another read.
    DotStore<?> store = TypeRegistry.read(ObjectForm.type(form), in, full ? replicas : List.of());
    Expiry expiry =
        ObjectForm.expires(form)
            ? Expiry.read(in, store, full, full ? replicas : List.of())
            : Expiry.NONE;
    return CrdtState.of(store, expiry, context, full);
  }
}
