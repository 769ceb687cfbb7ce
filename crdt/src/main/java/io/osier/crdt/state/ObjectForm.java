package io.osier.crdt.state;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;

/**
 * By what the content of an object can be read: its type, and whether deadlines follow. A form is a
 * number. Its lowest {@value #BITS} bits stand in a byte that has flags beside them, and where the
 * type's number is {@value #ESCAPE} or larger, they say so, and the number is a byte of its own
 * further behind. Static, for any thread.
 */
public final class ObjectForm {
  /** So many bits of a form stand in a byte with flags. */
  public static final int BITS = 5;

  /** What those bits have in the place of a larger type number, and of this one. */
  private static final int ESCAPE = (1 << (BITS - 1)) - 1;

  private static final int EXPIRES = 1 << (BITS - 1);
  private static final int MASK = (1 << BITS) - 1;

  private ObjectForm() {}

  /** The form of a content of a type with or without deadlines. */
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

  /** Whether a content of a form has deadlines. */
  static boolean expires(int form) {
    return (form & EXPIRES) != 0;
  }

  private static boolean isEscaped(int form) {
    return (form & ESCAPE) == ESCAPE;
  }

  /** The bits of a form that stand beside flags. */
  public static int bits(int form) {
    return form & MASK;
  }

  /** Writes what {@link #bits} leaves out: nothing, or a byte. */
  public static void writeRest(WireOutput out, int form) {
    if (isEscaped(form)) {
      out.writeByte(form >>> BITS);
    }
  }

  /**
   * The form of some bits, of which others may be flags, and of what {@link #writeRest} wrote.
   *
   * @throws MalformedException if a type that has room in the bits stands behind them
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
