package io.osier.core;

import io.osier.core.memory.HeapSize;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The content of registers and sets: bytes, a string, a long or a double. Immutable. Values are
 * ordered by kind, then by content, so that equal content has one encoded form.
 */
public sealed interface Value extends Comparable<Value> {

  /**
   * Returns a string value.
   *
   * @throws OsierException {@link ErrorCode#INVALID_ARGUMENT} if it has half a surrogate pair
   */
  static Value of(String text) {
    return new Str(Present.present(text, "a value"));
  }

  /** Returns a long value. */
  static Value of(long number) {
    return new Int(number);
  }

  /** Returns a double value; every NaN is the same, and −0.0 differs from 0.0. */
  static Value of(double number) {
    return new Real(number);
  }

  /** Returns a value of bytes, which are copied. */
  static Value of(byte[] bytes) {
    return new Bytes(Present.present(bytes, "a value").clone());
  }

  /** Returns a string value if the bytes are UTF-8, otherwise a value of bytes. They are copied. */
  static Value ofText(byte[] bytes) {
    String text = Utf8.decodeIfValid(bytes, 0, bytes.length);
    return text == null ? of(bytes) : new Str(text, bytes.length);
  }

  /** The bytes that bytes and strings take besides their content in {@link #sizeBytes}. */
  int BYTES_BESIDE = 2;

  /** Returns the kind's rank in the order of values, which is also its tag in the encoded form. */
  int kind();

  /** Returns an estimate of the encoded size, in bytes. */
  int sizeBytes();

  /** Returns about how many bytes the value takes in the heap. */
  default long heapBytes() {
    return switch (this) {
      case Bytes b -> HeapSize.object(HeapSize.REFERENCE) + HeapSize.array(b.content.length, 1);
      case Str s ->
          HeapSize.object(HeapSize.REFERENCE + 4) + HeapSize.text(s.content.length(), s.utf8Length);
      case Int i -> HeapSize.object(Long.BYTES);
      case Real r -> HeapSize.object(Double.BYTES);
    };
  }

  /** Bytes. */
  record Bytes(byte[] content) implements Value {
    @Override
    public int kind() {
      return 0;
    }

    @Override
    public int sizeBytes() {
      return BYTES_BESIDE + content.length;
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Bytes b && Arrays.equals(content, b.content);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(content);
    }

    @Override
    public String toString() {
      return printable(content);
    }
  }

  /** A string. Not a record, since it keeps its length in UTF-8, which is needed often. */
  final class Str implements Value {
    private final String content;
    private final int utf8Length;

    /**
     * @throws OsierException {@link ErrorCode#INVALID_ARGUMENT} if it has half a surrogate pair
     */
    public Str(String content) {
      if (content == null) {
        throw new IllegalArgumentException("a string value must not be null");
      }
      this.content = content;
      this.utf8Length = Utf8.length(content);
    }

    private Str(String content, int utf8Length) {
      this.content = content;
      this.utf8Length = utf8Length;
    }

    /**
     * Returns the string that a range of bytes encodes; they are copied.
     *
     * @throws CharacterCodingException if they are not UTF-8
     */
    public static Str ofUtf8(byte[] bytes, int from, int length) throws CharacterCodingException {
      return new Str(Utf8.decode(bytes, from, length), length);
    }

    /** Returns the text. */
    public String content() {
      return content;
    }

    /** Returns its length in UTF-8, in bytes. */
    public int utf8Length() {
      return utf8Length;
    }

    /** Whether each character takes one byte in UTF-8. */
    public boolean isAscii() {
      return utf8Length == content.length();
    }

    @Override
    public int kind() {
      return 1;
    }

    @Override
    public int sizeBytes() {
      return BYTES_BESIDE + utf8Length;
    }

    @Override
    public boolean equals(Object o) {
      return o instanceof Str other && content.equals(other.content);
    }

    @Override
    public int hashCode() {
      return content.hashCode();
    }

    @Override
    public String toString() {
      return content;
    }
  }

  /** A long. */
  record Int(long content) implements Value {
    @Override
    public int kind() {
      return 2;
    }

    @Override
    public int sizeBytes() {
      return 1 + Math.max(1, (70 - Long.numberOfLeadingZeros(content ^ (content >> 63))) / 7);
    }

    @Override
    public String toString() {
      return Long.toString(content);
    }
  }

  /** A double. */
  record Real(double content) implements Value {
    @Override
    public int kind() {
      return 3;
    }

    @Override
    public int sizeBytes() {
      return 9;
    }

    @Override
    public String toString() {
      return Double.toString(content);
    }
  }

  @Override
  default int compareTo(Value other) {
    if (this instanceof Str a && other instanceof Str b) {
      return a.content.compareTo(b.content);
    }
    if (this instanceof Int a && other instanceof Int b) {
      return Long.compare(a.content, b.content);
    }
    if (this instanceof Real a && other instanceof Real b) {
      return Double.compare(a.content, b.content);
    }
    if (this instanceof Bytes a && other instanceof Bytes b) {
      return Arrays.compareUnsigned(a.content, b.content);
    }
    return Integer.compare(kind(), other.kind());
  }

  /** Returns bytes as text: UTF-8 if they are printable, otherwise 0x and hexadecimal digits. */
  static String printable(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      if (text.chars().noneMatch(Character::isISOControl)) {
        return text;
      }
    } catch (CharacterCodingException e) {
      // It is not text, so it is shown as hexadecimal digits below.
    }
    return "0x" + HexFormat.of().formatHex(bytes);
  }
}
