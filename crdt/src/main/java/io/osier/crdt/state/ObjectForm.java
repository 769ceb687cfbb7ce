package io.osier.crdt.state;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;

/**
 * A form: a number by which the content of an object can be read, made of its type and whether
 * deadlines follow. Its lowest {@value #BITS} bits share a byte with flags. If the type's number is
 * {@value #ESCAPE} or larger, those bits say so, and the number is a byte of its own further
 * behind. Static, for any thread.
 */
public final class ObjectForm {
  /** The number of bits of a form that share a byte with flags. */
  public static final int BITS = 5;

  /** Stands in those bits for this type number and for larger ones. */
  private static final int ESCAPE = (1 << (BITS - 1)) - 1;

  private static final int EXPIRES = 1 << (BITS - 1);
  private static final int MASK = (1 << BITS) - 1;

  private ObjectForm() {}

  /** Returns the form of a type's content with or without deadlines. */
  public static int of(CrdtType type, boolean expires) {
    return of(type.number(), expires);
  }

  static int of(int number, boolean expires) {
    int low = number < ESCAPE ? number : ESCAPE | number << BITS;
    return low | (expires ? EXPIRES : 0);
  }

  public static CrdtType type(int form) {
    return CrdtType.of(number(form));
  }

  static int number(int form) {
    return isEscaped(form) ? form >>> BITS : form & ESCAPE;
  }

  /** Whether a content of this form has deadlines. */
  static boolean expires(int form) {
    return (form & EXPIRES) != 0;
  }

  private static boolean isEscaped(int form) {
    return (form & ESCAPE) == ESCAPE;
  }

  /** Returns the bits of a form that share a byte with flags. */
  public static int bits(int form) {
    return form & MASK;
  }

  /** Writes the part of the form that {@link #bits} omits: nothing, or a byte. */
  public static void writeRest(WireOutput out, int form) {
    if (isEscaped(form)) {
      out.writeByte(form >>> BITS);
    }
  }

  /**
   * Reads a form from its bits, among which others may be flags, and from what {@link #writeRest}
   * wrote.
   *
   * @throws MalformedException if the extra byte has a type that fits the bits
   */
  public static int read(int bits, WireInput in) {
    int form = bits & MASK;
    if (!isEscaped(form)) {
      return form;
    }
    int number = in.readByteUnsigned();
    if (number < ESCAPE) {
      throw new MalformedException("type number " + number + " stands behind its place");
    }
    return form | number << BITS;
  }
}
