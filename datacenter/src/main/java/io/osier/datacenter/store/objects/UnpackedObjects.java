package io.osier.datacenter.store.objects;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.PackedReader;
import io.osier.datacenter.store.StoredKey;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Reads keys that are packed. A few small ones that were unpacked last are remembered, so that who
 * reads one again and again unpacks it once. Thread-safe, without a lock.
 */
final class UnpackedObjects {
  /**
   * So many keys that were unpacked to be read are remembered, if they are small: no budget counts
   * them, so all together take a few hundred kilobytes at most.
   */
  private static final int KEPT = 64;

  private static final int BYTES_MAX = 256;

  /** What a packed key was when it was read. */
  private record Unpacked(byte[] packed, KeyObjects objects) {}

  private final PackedObjects packing;
  private final AtomicReferenceArray<@Nullable Unpacked> kept = new AtomicReferenceArray<>(KEPT);

  UnpackedObjects(PackedObjects packing) {
    this.packing = packing;
  }

  /**
   * What a key holds.
   *
   * @param h the key's hash
   */
  KeyObjects objects(byte[] packed, long h) {
    PackedObjects.use(packed);
    if (packed.length > BYTES_MAX) {
      return packing.unpack(packed);
    }
    int at = place(h);
    Unpacked known = kept.getAcquire(at);
    if (known != null && known.packed == packed) {
      return known.objects;
    }
    KeyObjects objects = packing.unpack(packed);
    kept.setRelease(at, new Unpacked(packed, objects));
    return objects;
  }

  /** As {@link #objects}, unpacked only when its states are asked for. */
  StoredKey stored(byte[] packed, long h) {
    PackedObjects.use(packed);
    Unpacked known = kept.getAcquire(place(h));
    return known != null && known.packed == packed ? known.objects : new Packed(packed, h);
  }

  private static int place(long h) {
    return (int) (h >>> 8) & KEPT - 1;
  }

  /** A key that was packed when it was read. */
  private final class Packed implements StoredKey {
    private final byte[] bytes;
    private final long h;

    /** Once they were asked for; the same ones, whichever thread sees them first. */
    private @Nullable List<CrdtState> states;

    private boolean hasAnswered;

    Packed(byte[] bytes, long h) {
      this.bytes = bytes;
      this.h = h;
    }

    @Override
    public List<CrdtState> states() {
      List<CrdtState> known = states;
      if (known == null) {
        known = objects(bytes, h).states();
        states = known;
      }
      return known;
    }

    @Override
    public boolean isPacked() {
      return true;
    }

    @Override
    public boolean isOnly(CrdtType type) {
      return PackedObjects.isOnly(bytes, type);
    }

    @Override
    public @Nullable PackedReader answer(Query query) {
      if (hasAnswered) {
        return null; // many reads of a batch cost less once it is unpacked
      }
      hasAnswered = true;
      return packing.answer(bytes, query);
    }
  }
}
