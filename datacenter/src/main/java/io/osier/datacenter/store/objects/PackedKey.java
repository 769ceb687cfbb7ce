package io.osier.datacenter.store.objects;

import io.osier.crdt.CrdtType;
import io.osier.crdt.Query;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.ObjectForm;
import io.osier.crdt.state.PackedReader;
import io.osier.datacenter.store.StoredKey;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A key that was packed when it was read; it is unpacked only when its states are asked for. */
final class PackedKey implements StoredKey {
  private final PackedObjects packing;
  private final byte[] bytes;

  /** The unpacked states; the same ones for every thread once they were asked for. */
  private @Nullable List<CrdtState> states;

  private boolean hasAnswered;

  PackedKey(PackedObjects packing, byte[] bytes) {
    this.packing = packing;
    this.bytes = bytes;
  }

  @Override
  public List<CrdtState> states() {
    List<CrdtState> known = states;
    if (known == null) {
      known = packing.unpack(bytes).states();
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
    int form = PackedObjects.onlyForm(bytes);
    return form >= 0 && ObjectForm.type(form) == type;
  }

  @Override
  public boolean isOnlyOf(int form) {
    return PackedObjects.onlyForm(bytes) == form;
  }

  @Override
  public @Nullable PackedReader answer(Query query) {
    if (hasAnswered) {
      return null; // a second query of a batch unpacks, as more queries then cost less
    }
    hasAnswered = true;
    return packing.answer(bytes, query);
  }
}
