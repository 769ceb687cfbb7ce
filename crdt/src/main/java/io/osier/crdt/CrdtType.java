package io.osier.crdt;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The data types, each with its number in all formats and its name for people. */
public enum CrdtType {
  /** A counter that goes up and down. */
  PN_COUNTER(1, "counter"),
  G_COUNTER(2, "gcounter"),
  /** One value; of concurrent assignments the latest wins. */
  LWW_REGISTER(3, "register"),
  /** The values of all concurrent assignments. */
  MV_REGISTER(4, "mvregister"),
  /** A flag; of concurrent changes, enabling wins. */
  EW_FLAG(5, "ewflag"),
  /** A flag; of concurrent changes, disabling wins. */
  DW_FLAG(6, "dwflag"),
  G_SET(7, "gset"),
  /** A set; of concurrent changes of an element, adding wins. No tombstones. */
  AW_SET(8, "set"),
  /** A set; of concurrent changes of an element, removing wins. */
  RW_SET(9, "rwset"),
  /** A set; the latest change of an element wins, adding at equal times. */
  LWW_SET_ADD_BIAS(10, "lwwset"),
  /** A set; the latest change of an element wins, removing at equal times. */
  LWW_SET_REMOVE_BIAS(11, "lwwset-remove"),
  /** A map of named fields, each of any of these types. */
  OR_MAP(12, "map"),
  /** A counter that never leaves its bounds, by rights that datacenters hold and exchange. */
  BOUNDED_COUNTER(13, "bcounter"),
  /** Bytes that can be assigned, and incremented while they are a number. */
  STRING(14, "string"),
  /** One value: the smallest of all assigned ones. */
  MIN_REGISTER(15, "min"),
  /** One value: the largest of all assigned ones. */
  MAX_REGISTER(16, "max");

  // New types are added at the end: keys of stored entries contain a type's index in this list.

  private static final CrdtType[] BY_NUMBER = new CrdtType[values().length + 1];

  static {
    for (CrdtType type : values()) {
      BY_NUMBER[type.number] = type;
    }
  }

  private final int number;
  private final String label;

  CrdtType(int number, String label) {
    this.number = number;
    this.label = label;
  }

  public int number() {
    return number;
  }

  /** Returns the name that the command line and messages use. */
  public String label() {
    return label;
  }

  /**
   * Returns the type with a number.
   *
   * @throws OsierException {@link ErrorCode#MALFORMED} if there is none
   */
  public static CrdtType of(int number) {
    if (number < 1 || number >= BY_NUMBER.length) {
      throw OsierException.of(ErrorCode.MALFORMED, "type number " + number + " is unknown");
    }
    return BY_NUMBER[number];
  }

  /**
   * Returns the type with a label.
   *
   * @throws OsierException {@link ErrorCode#INVALID_ARGUMENT} if there is none
   */
  public static CrdtType ofLabel(String label) {
    String wanted = label.toLowerCase(Locale.ROOT);
    for (CrdtType type : values()) {
      if (type.label.equals(wanted)) {
        return type;
      }
    }
    throw OsierException.of(
        ErrorCode.INVALID_ARGUMENT,
        "there is no type '"
            + label
            + "'; the types are "
            + Arrays.stream(values()).map(CrdtType::label).collect(Collectors.joining(", ")));
  }

  /**
   * Whether it was added after the first types: clients and datacenters of older versions do not
   * know it.
   */
  public boolean isLater() {
    return number > BOUNDED_COUNTER.number;
  }

  /** Whether it is a set of elements. */
  public boolean isSet() {
    return switch (this) {
      case G_SET, AW_SET, RW_SET, LWW_SET_ADD_BIAS, LWW_SET_REMOVE_BIAS -> true;
      default -> false;
    };
  }

  /** Whether it has parts: the elements of a set, or the fields of a map. */
  public boolean hasParts() {
    return isSet() || this == OR_MAP;
  }

  /** Whether it may be a field of a map. */
  public boolean isNestable() {
    return this != BOUNDED_COUNTER;
  }

  @Override
  public String toString() {
    return label;
  }
}
