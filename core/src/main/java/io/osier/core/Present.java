package io.osier.core;

import java.util.List;

/** Checks that arguments are not null. */
public final class Present {
  private Present() {}

  /**
   * Returns an argument that must not be null.
   *
   * @param what the argument, for the error: "a key"
   * @throws OsierException INVALID_ARGUMENT if it is null
   */
  public static <T> T present(T argument, String what) {
    if (argument == null) {
      throw missing(what);
    }
    return argument;
  }

  /**
   * Returns an immutable copy of a list.
   *
   * @param what its elements, for the error: "an element"
   * @throws OsierException INVALID_ARGUMENT if the list or an element is null
   */
  public static <T> List<T> copyOf(List<T> list, String what) {
    try {
      return List.copyOf(list);
    } catch (NullPointerException e) { // List.copyOf checks for null anyway
      throw missing(what);
    }
  }

  private static OsierException missing(String what) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, what + " must be given, not null");
  }
}
