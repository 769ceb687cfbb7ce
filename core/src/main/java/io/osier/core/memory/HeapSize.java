package io.osier.core.memory;

import java.lang.management.ManagementFactory;

/**
 * Estimates how many bytes objects take in the heap of a virtual machine with compressed
 * references, which rounds each object up to {@value #ALIGNMENT} bytes. Shared objects (names of
 * replicas, empty vectors, enum constants) are not counted by objects that refer to them.
 *
 * <p>Pure. Every estimate costs at most a step for each part of the object; stored objects'
 * estimates are updated with them.
 */
public final class HeapSize {
  /** The bytes of a reference. */
  public static final int REFERENCE = 4;

  private static final int ALIGNMENT = 8;

  /** Whether the virtual machine was started with object headers that are 4 bytes shorter. */
  private static final boolean COMPACT =
      ManagementFactory.getRuntimeMXBean()
          .getInputArguments()
          .contains("-XX:+UseCompactObjectHeaders");

  private static final int HEADER = COMPACT ? 8 : 12;
  private static final int ARRAY_HEADER = HEADER + Integer.BYTES;

  private HeapSize() {}

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Returns the bytes of an object whose fields take this many bytes. */
  public static long object(int fieldBytes) {
    return aligned((long) HEADER + fieldBytes);
  }

  /** Returns the bytes of an array with this many elements, without the objects they refer to. */
  public static long array(long length, int elementBytes) {
    return aligned(ARRAY_HEADER + length * elementBytes);
  }

  /** Returns the bytes of a string with this many characters and bytes in UTF-8. */
  public static long text(int length, int utf8Bytes) {
    // A string takes one byte a character if all are ASCII. Some others do, too, but count as two.
    return object(2 * REFERENCE + 2) + array(utf8Bytes == length ? length : 2L * length, 1);
  }

  /** Returns the bytes of a string of ASCII characters, such as a name. */
  public static long text(String name) {
    return text(name.length(), name.length());
  }

  /** Returns the bytes of an immutable list of this size, without its elements. */
  public static long list(int size) {
    return size == 0 ? 0 : object(2 * REFERENCE) + (size > 2 ? array(size, REFERENCE) : 0);
  }
}
