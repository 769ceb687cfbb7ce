package io.osier.core;

import java.util.List;

/** Names arguments that are missing. */
public final class Present {
  private Present() {}

  /**
   * An argument that must be there.
   *
   * @param what it is, for the error: "a key"
   * @throws OsierException INVALID_ARGUMENT if it is null
   */
  public static <T> T present(T argument, String what) {
    if (argument == null) {
      throw missing(what);
    }
    return argument;
  }

  /**
   * An immutable copy of a list.
   *
   * @param what its elements are, for the error: "an element"
   * @throws OsierException INVALID_ARGUMENT if the list or an element is null
   */
  public static <T> List<T> copyOf(List<T> list, String what) {
    try {
      return List.copyOf(list);
    } catch (NullPointerException e) { // looked for by List.copyOf anyway
      throw missing(what);
    }
  }

  private static OsierException missing(String what) {
    return OsierException.of(ErrorCode.INVALID_ARGUMENT, what + " must be given, not null");
  }
}
