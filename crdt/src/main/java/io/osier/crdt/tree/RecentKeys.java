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
 * Which entries of a decomposed object were changed lately, beside those that are in memory. A
 * clearing that comes from elsewhere has not seen what was added here in the meantime: that is
 * looked for among these, and not by a walk through all that lies outside. Immutable.
 */
public final class RecentKeys {
  /** Of one object former keys are kept up to so many bytes, contexts and all. */
  private static final int BYTES_MAX = 256 << 10;

  /** And not of more versions: slow changes come into a source because it gets old. */
  private static final int FORMER_MAX = 16;

  private static final long HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE + Long.BYTES);
  private static final long FORMER_HEAP_BYTES = HeapSize.object(2 * HeapSize.REFERENCE);

  /**
   * What was in memory before it came into a source.
   *
   * @param since as {@link RecentKeys#since} was then
   * @param keys their bytes, each behind its length
   */
  private record Former(CausalContext since, byte[] keys) {
    long heapBytes() {
      return FORMER_HEAP_BYTES + since.heapBytes() + HeapSize.array(keys.length, 1);
    }
  }

  /** What lies outside, and was not changed in memory, has no other dots than these. */
  private final CausalContext since;

  /** The latest first. */
  private final List<Former> former;

  /** Each update of the object asks for it. */
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

  /** Nothing is known of changes before a version, all of which lies outside. */
  public static RecentKeys since(CausalContext version) {
    return new RecentKeys(version, List.of());
  }

  /**
   * After what was in memory has come into a source. With nothing in memory nothing has: what lies
   * outside is as it was, so what was known of it holds still, and a set that is read anew again
   * and again does not forget that.
   *
   * @param written the context of the version that the source has
   * @param keys what that version had in memory; no more of them are asked for than are kept
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
   * The keys of entries that may have dots that somebody has not seen, beside those in memory.
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
