package io.osier.datacenter.store.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.CRC32C;

/**
 * Compares the checksums of RocksDB's logs: of updates (*.log) and of files (MANIFEST-*). RocksDB
 * does so itself when it opens a store, but loops for ever over some damage in a MANIFEST, and
 * takes a record with a damaged length for the end of the log.
 *
 * <p>A log has blocks of 32 KiB, and a record lies within one:
 *
 * <pre>
 *   +---------------+--------------+-------------+--------------+
 *   | checksum, 4 B | length, 2 B  | type, 1 B   | length bytes |   all little-endian
 *   +---------------+--------------+-------------+--------------+
 * </pre>
 *
 * <p>The checksum, a CRC-32C that is rotated and offset, covers everything from the type on.
 */
final class LogChecksums {
  private static final int BLOCK_BYTES = 32 << 10;
  private static final int HEADER_BYTES = 7;
  private static final int LENGTH_AT = 4;
  private static final int TYPE_AT = 6;
  private static final int MASK_DELTA = 0xa282ead8;
  private static final int MASK_ROTATION = 15;

  private LogChecksums() {}

  /**
   * Checks a log.
   *
   * @return the offset of the first damaged record, or -1. A log that ends within its last record
   *     is not damaged: a crash leaves it so
   */
  static long firstDamage(Path log) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(log)).order(ByteOrder.LITTLE_ENDIAN);
    int at = 0;
    while (at < bytes.limit()) {
      int blockEnd = (int) Math.min((at / BLOCK_BYTES + 1L) * BLOCK_BYTES, bytes.limit());
      if (blockEnd - at < HEADER_BYTES) {
        at = blockEnd; // padding, too short for a record
        continue;
      }
      int length = bytes.getShort(at + LENGTH_AT) & 0xffff;
      if (isNothing(bytes, at)) {
        at = blockEnd;
      } else if (length > blockEnd - at - HEADER_BYTES) {
        boolean last = blockEnd == bytes.limit();
        return last && !isRecordAfter(bytes, at, blockEnd) ? -1 : at;
      } else if (!isRight(bytes, at, length)) {
        return at;
      } else {
        at += HEADER_BYTES + length;
      }
    }
    return -1;
  }

  /** Returns whether this is space that was reserved and not written. */
  private static boolean isNothing(ByteBuffer bytes, int at) {
    return bytes.getInt(at) == 0
        && bytes.getShort(at + LENGTH_AT) == 0
        && bytes.get(at + TYPE_AT) == 0;
  }

  /**
   * Returns whether a record follows where the log seems to end within one: then the length of that
   * one is damaged, whether or not it is the last.
   */
  private static boolean isRecordAfter(ByteBuffer bytes, int from, int end) {
    if (isRight(bytes, from, end - from - HEADER_BYTES)) {
      return true;
    }
    for (int at = from + 1; at <= end - HEADER_BYTES; at++) {
      int length = bytes.getShort(at + LENGTH_AT) & 0xffff;
      if (length > 0 && length <= end - at - HEADER_BYTES && isRight(bytes, at, length)) {
        return true;
      }
    }
    return false;
  }

  private static boolean isRight(ByteBuffer bytes, int at, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes.slice(at + TYPE_AT, HEADER_BYTES - TYPE_AT + length));
    int sum = (int) crc.getValue();
    return bytes.getInt(at) == Integer.rotateRight(sum, MASK_ROTATION) + MASK_DELTA;
  }
}
