package io.osier.crdt.state;

import io.osier.core.codec.WireOutput;
import io.osier.crdt.EntryKey;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.EntryStore;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * Hashes entries one after the other. Replicas are numbered in the order in which they appear, so
 * equal entries have equal bytes everywhere. Not thread-safe.
 */
final class RangeHash<K extends Comparable<K>, V> {
  private final EntryStore<?, K, V> type;
  private final MessageDigest digest;
  private final WireOutput out = new WireOutput();

  RangeHash(EntryStore<?, K, V> type) {
    this.type = type;
    try {
      this.digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every platform has SHA-256", e);
    }
  }

  /** Adds an entry; returns the bytes of its key. */
  byte[] add(TreeEntry<K, V> entry) {
    byte[] key = type.orderedKey(entry.key());
    out.setPosition(0);
    out.writeBlob(key);
    type.writeCell(out, entry.cell());
    digest.update(out.getBuffer(), 0, out.position());
    return key;
  }

  /** Returns the range of the entries that were added since the last range. */
  EntryRanges.Range range(EntryKey last) {
    out.reset();
    ByteBuffer hash = ByteBuffer.wrap(digest.digest());
    return new EntryRanges.Range(last, hash.getLong(), hash.getLong());
  }
}
