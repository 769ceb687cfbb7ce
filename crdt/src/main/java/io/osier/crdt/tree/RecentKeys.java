package io.osier.crdt.tree;

import io.osier.core.CausalContext;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Remembers which entries of a decomposed object were changed lately, besides those that are in
 * memory. A clearing from another datacenter has not seen elements that were added here meanwhile:
 * these are looked up here, instead of by a walk over everything outside. Immutable.
 */
public final class RecentKeys {
  /** The most bytes that former keys of one object take, contexts included. */
  private static final int BYTES_MAX = 256 << 10;

  /**
   * The most versions of which keys are kept: slow changes are moved to a source because it gets
   * old.
   */
  private static final int FORMER_MAX = 16;

  private static final long HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE + Long.BYTES);
  private static final long FORMER_HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE);

  /**
   * The keys that were in memory before they were moved to a source.
   *
   * @param since the value of {@link RecentKeys#since} at that time
   * @param keys their bytes, each after its length
   */
  private record Former(CausalContext since, byte[] keys) {
    long heapBytes() {
      return FORMER_HEAP_BYTES + since.heapBytes() + HeapSize.array(keys.length, 1);
    }
  }

  /** Entries outside that were not changed in memory have no other dots than these. */
  private final CausalContext since;

  /** The latest first. */
  private final List<Former> former;

  /** Computed once, since each update of the object asks for it. */
  private final long heapBytes;

  private RecentKeys(CausalContext since, List<Former> former) {
    this.since = since;
    this.former = former;
    long bytes = HEAP_BYTES + since.heapBytes() + HeapSize.list(former.size());
    for (Former each : former) {
      bytes += each.heapBytes();
    }
    this.heapBytes = bytes;
  }

  /** Returns an instance that knows of no changes before a version that lies outside as a whole. */
  public static RecentKeys since(CausalContext version) {
    return new RecentKeys(version, List.of());
  }

  /**
   * Returns an instance for after the entries in memory were moved to a source. If none were in
   * memory, nothing has changed outside and this instance is still true; so a set that is read
   * again and again keeps it.
   *
   * @param written the context of the version that the source has
   * @param keys the keys that the version had in memory; no more are requested than are kept
   */
  public RecentKeys after(CausalContext written, Iterator<byte[]> keys) {
    if (!keys.hasNext()) {
      return this;
    }
    WireOutput out = new WireOutput();
    while (keys.hasNext()) {
      out.writeBlob(keys.next());
      if (out.position() > BYTES_MAX) {
        return since(written); // without these, former ones are of no use
      }
    }
    Former latest = new Former(since, out.toBytes());
    List<Former> kept = new ArrayList<>();
    kept.add(latest);
    long bytes = latest.heapBytes();
    for (Former each : former) {
      bytes += each.heapBytes();
      if (bytes > BYTES_MAX || kept.size() == FORMER_MAX) {
        break;
      }
      kept.add(each);
    }
    return new RecentKeys(written, List.copyOf(kept));
  }

  /**
   * Returns the keys of entries, besides those in memory, that may have dots outside a context.
   *
   * @return null if every entry may
   */
  public @Nullable List<byte[]> unseenBy(CausalContext seen) {
    List<byte[]> keys = new ArrayList<>();
    if (seen.covers(since)) {
      return keys;
    }
    for (Former each : former) {
      WireInput in = new WireInput(each.keys);
      while (in.remaining() > 0) {
        keys.add(in.readBlob(BYTES_MAX));
      }
      if (seen.covers(each.since)) {
        return keys;
      }
    }
    return null;
  }

  public long heapBytes() {
    return heapBytes;
  }
}
