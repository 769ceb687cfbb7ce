package io.osier.core;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.function.LongSupplier;

/**
 * SipHash (Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012): without its secret
 * nobody can make keys collide, so that chosen keys cannot make a table slow. Immutable and safe
 * for any thread.
 */
public final class KeyedHash {
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private final long k0;
  private final long k1;
  private final int roundsPerBlock;
  private final int roundsAtEnd;

  /**
   * @param roundsPerBlock c in the paper
   * @param roundsAtEnd d in the paper
   */
  KeyedHash(long k0, long k1, int roundsPerBlock, int roundsAtEnd) {
    this.k0 = k0;
    this.k1 = k1;
    this.roundsPerBlock = roundsPerBlock;
    this.roundsAtEnd = roundsAtEnd;
  }

  /**
   * Returns SipHash-1-3, the form for hash tables.
   *
   * @param secret draws the secret; a fixed value makes runs repeatable
   */
  public static KeyedHash of(LongSupplier secret) {
    return new KeyedHash(secret.getAsLong(), secret.getAsLong(), 1, 3);
  }

  /** Returns the hash of a range of bytes. */
  public long of(byte[] bytes, int from, int length) {
    State state = new State(k0, k1);
    int whole = from + (length & -Long.BYTES);
    for (int i = from; i < whole; i += Long.BYTES) {
      state.add((long) LONGS.get(bytes, i), roundsPerBlock);
    }
    long last = (long) length << 56;
    for (int i = 0; i < (length & (Long.BYTES - 1)); i++) {
      last |= (bytes[whole + i] & 0xffL) << (8 * i);
    }
    state.add(last, roundsPerBlock);
    return state.end(roundsAtEnd);
  }

  private static final class State {
    private long v0;
    private long v1;
    private long v2;
    private long v3;

    State(long k0, long k1) {
      v0 = 0x736f6d6570736575L ^ k0;
      v1 = 0x646f72616e646f6dL ^ k1;
      v2 = 0x6c7967656e657261L ^ k0;
      v3 = 0x7465646279746573L ^ k1;
    }

    void add(long block, int rounds) {
      v3 ^= block;
      rounds(rounds);
      v0 ^= block;
    }

    long end(int rounds) {
      v2 ^= 0xff;
      rounds(rounds);
      return v0 ^ v1 ^ v2 ^ v3;
    }

    private void rounds(int count) {
      for (int r = 0; r < count; r++) {
        v0 += v1;
        v1 = Long.rotateLeft(v1, 13) ^ v0;
        v0 = Long.rotateLeft(v0, 32);
        v2 += v3;
        v3 = Long.rotateLeft(v3, 16) ^ v2;
        v0 += v3;
        v3 = Long.rotateLeft(v3, 21) ^ v0;
        v2 += v1;
        v1 = Long.rotateLeft(v1, 17) ^ v2;
        v2 = Long.rotateLeft(v2, 32);
      }
    }
  }
}
