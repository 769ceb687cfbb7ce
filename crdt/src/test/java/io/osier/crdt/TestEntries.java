package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.tree.EntrySource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The entries of an object outside the heap; counts how many of them were read. */
public final class TestEntries implements EntrySource {
  public static final ReplicaId SELF = new ReplicaId("eu", 1);

  public final NavigableMap<byte[], byte[]> entries = new TreeMap<>(Arrays::compareUnsigned);
  public int given;

  /** How often a single entry was looked up. */
  int lookups;

  public final List<byte @Nullable []> pages = new ArrayList<>();

  /** All replicas of the object's context, in its order. */
  List<ReplicaId> replicas = List.of(SELF);

  /** Returns an equal object whose entries are in this source. */
  public CrdtState decomposed(CrdtState whole) {
    Decomposition.all(whole, replicas, entries::put);
    return decomposedAs(whole);
  }

  /** Returns an equal object that is read again, of one whose entries are in this source. */
  public CrdtState decomposedAs(CrdtState whole) {
    byte[] head =
        WireOutput.bytesOf(
            out -> {
              replicas.forEach(out::presetReplica);
              Decomposition.writeHead(Decomposition.of(whole), out);
            });
    return Decomposition.readHead(whole.form(), replicas, new WireInput(head), this);
  }

  @Override
  public byte @Nullable [] get(byte[] key) {
    given++;
    lookups++;
    return entries.get(key);
  }

  @Override
  public List<Entry> page(byte @Nullable [] from, boolean inclusive, boolean down, int max) {
    pages.add(from);
    List<Entry> page = EntrySource.pageOf(entries, from, inclusive, down, max);
    given += page.size();
    return page;
  }

  @Override
  public List<ReplicaId> replicas() {
    return replicas;
  }

  @Override
  public OsierException failure(MalformedException e) {
    return new OsierException(ErrorCode.STORE_DAMAGED, "the store here", e);
  }
}
