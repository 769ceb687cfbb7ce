package io.osier.core.memory;

import java.lang.management.ManagementFactory;

/**
 * How many bytes things take in the heap, about: of a virtual machine with compressed references,
 * which rounds each object up to {@value #ALIGNMENT} bytes. What many share (names of replicas,
 * empty vectors, enum constants) is not counted by those who refer to it.
 *
 * <p>Pure; every estimate costs at most what the thing itself has in parts, and those of objects
 * are kept up to date with them.
 */
public final class HeapSize {
  /** A reference. */
  public static final int REFERENCE = 4;

  private static final int ALIGNMENT = 8;

  /** Whether the virtual machine was started with headers of objects that are 4 bytes shorter. */
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

  /** An object whose fields take so many bytes. */
  public static long object(int fieldBytes) {
    return aligned((long) HEADER + fieldBytes);
  }

  /** An array of so many elements, without what they refer to. */
  public static long array(long length, int elementBytes) {
    return aligned(ARRAY_HEADER + length * elementBytes);
  }

  /** A string of so many characters that takes so many bytes in UTF-8. */
  public static long text(int length, int utf8Bytes) {
    // One byte a character where all are ASCII. Of others only some are: taken for two.
    return object(2 * REFERENCE + 2) + array(utf8Bytes == length ? length : 2L * length, 1);
  }

  /** A string of ASCII characters, such as a name. */
  public static long text(String name) {
    return text(name.length(), name.length());
  }

  /** An immutable list of so many elements, without them. */
  public static long list(int size) {
    return size == 0 ? 0 : object(2 * REFERENCE) + (size > 2 ? array(size, REFERENCE) : 0);
  }
}
