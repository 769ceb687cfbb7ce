package io.osier.bench.sim.world;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a connection carries at once: bytes, or a frame that nobody encodes and that takes as much
 * room and time as its bytes would.
 *
 * @param size in bytes; 0 for the connection's end
 * @param frame hands the frame on; null for bytes, and for a part of a frame, which is not its last
 */
public record SimCargo(byte[] bytes, int size, @Nullable Runnable frame) {
  private static final byte[] NOTHING = {};

  public static SimCargo of(byte[] bytes) {
    return new SimCargo(bytes, bytes.length, null);
  }

  public static SimCargo of(Runnable frame, int size) {
    return new SimCargo(NOTHING, size, frame);
  }

  boolean isEnd() {
    return size == 0;
  }

  /** A part of the cargo; a frame that is not encoded is handed on with its last part. */
  SimCargo part(int from, int length) {
    if (length == size) {
      return this;
    }
    return bytes.length > 0
        ? of(Arrays.copyOfRange(bytes, from, from + length))
        : new SimCargo(NOTHING, length, from + length == size ? frame : null);
  }
}
