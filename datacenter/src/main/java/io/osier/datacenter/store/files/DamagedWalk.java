package io.osier.datacenter.store.files;

import io.osier.core.OsierException;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteBatch;

/** Walks through a database with damaged blocks. Used by one thread. */
final class DamagedWalk {
  private static final int BATCH_BYTES = 1 << 20;

  /** With more damaged places than this, a rebuild is the better way. */
  private static final int GAPS_MAX = 10_000;

  /** Takes the readable records. */
  @FunctionalInterface
  interface Whole {
    /** Takes records in order; must not keep the batch. */
    void write(WriteBatch batch) throws RocksDBException;
  }

  /** Is told of ranges that cannot be read. */
  @FunctionalInterface
  interface Gap {
    /** Takes the keys of the readable records on both sides of such a range. */
    void between(byte[] before, byte[] after);
  }

  private final RocksDB from;
  private final ReadOptions read;
  private final Function<String, OsierException> cannot;

  /** Whether the walk has come to the end. */
  private boolean atEnd;

  /**
   * @param cannot makes the error that ends the walk, from words about the damage
   */
  DamagedWalk(RocksDB from, ReadOptions read, Function<String, OsierException> cannot) {
    this.from = from;
    this.read = read;
    this.cannot = cannot;
  }

  /** Walks through all readable records. Called once. */
  void walk(Whole whole, Gap gap) throws RocksDBException {
    byte[] last = null;
    byte[] next = new byte[0];
    for (int gaps = 0; !atEnd; gaps++) {
      byte[] reached = walkFrom(next, whole);
      last = reached == null ? last : reached;
      if (!atEnd) {
        if (last == null || gaps == GAPS_MAX) {
          throw cannot.apply("too much of it is damaged");
        }
        next = firstReadable(last);
        gap.between(last, next);
      }
    }
  }

  /** Walks on until a record cannot be read. Returns the last key, null if there is none. */
  private byte @Nullable [] walkFrom(byte[] begin, Whole whole) throws RocksDBException {
    byte[] last = null;
    try (RocksIterator it = from.newIterator(read);
        WriteBatch batch = new WriteBatch()) {
      for (it.seek(begin); it.isValid(); it.next()) {
        last = it.key();
        batch.put(last, it.value());
        if (batch.getDataSize() > BATCH_BYTES) {
          whole.write(batch);
          batch.clear();
        }
      }
      whole.write(batch);
      atEnd = isWhole(it);
    }
    return last;
  }

  private static boolean isWhole(RocksIterator it) {
    try {
      it.status();
      return true;
    } catch (RocksDBException e) {
      return false;
    }
  }

  /**
   * Finds the first record after an unreadable range: by trial, in ever larger steps and then back
   * in ever smaller ones, since tables do not tell where their blocks begin.
   */
  private byte[] firstReadable(byte[] last) throws RocksDBException {
    int length = last.length + Long.BYTES;
    BigInteger base = new BigInteger(1, Arrays.copyOf(last, length));
    BigInteger top = BigInteger.ONE.shiftLeft(8 * length);
    BigInteger unreadable = base;
    BigInteger step = BigInteger.ONE;
    BigInteger readable = base.add(step);
    while (readable.compareTo(top) < 0 && at(readable, length) == null) {
      unreadable = readable;
      step = step.shiftLeft(1);
      readable = base.add(step);
    }
    if (readable.compareTo(top) >= 0) {
      readable = top.subtract(BigInteger.ONE);
    }
    while (readable.subtract(unreadable).compareTo(BigInteger.ONE) > 0) {
      BigInteger middle = readable.add(unreadable).shiftRight(1);
      if (at(middle, length) == null) {
        unreadable = middle;
      } else {
        readable = middle;
      }
    }
    byte[] found = at(readable, length);
    if (found == null) {
      throw cannot.apply("its end is"); // where the store's header is
    }
    return found;
  }

  /** Returns the first key from a place on; null if that cannot be read, or there is none. */
  private byte @Nullable [] at(BigInteger place, int length) {
    byte[] bytes = place.toByteArray();
    byte[] key = new byte[length];
    int extra = Math.max(0, bytes.length - length); // a zero for the sign
    System.arraycopy(bytes, extra, key, length - bytes.length + extra, bytes.length - extra);
    try (RocksIterator it = from.newIterator(read)) {
      it.seek(key);
      return it.isValid() ? it.key() : null;
    }
  }
}
