package io.osier.core;

/**
 * One life of one datacenter: its short name and its incarnation. A datacenter that starts without
 * the data that it had acknowledged takes a larger incarnation, so that none of its dots is ever
 * used twice (invariant I4).
 *
 * @param dc short name, 1 to 63 characters: a letter, then letters, digits, '-' or '_'
 * @param incarnation 1 or larger; larger is later
 */
public record ReplicaId(String dc, long incarnation) implements Comparable<ReplicaId> {
  /** Longest name of a datacenter, in characters. */
  public static final int DC_NAME_LENGTH_MAX = 63;

  public ReplicaId {
    checkDcName(dc);
    if (incarnation < 1) {
      throw new IllegalArgumentException("incarnation must be 1 or larger, not " + incarnation);
    }
  }

  /**
   * Checks a datacenter's name.
   *
   * @return the name
   * @throws IllegalArgumentException if it is not 1 to 63 characters, a letter first
   */
  public static String checkDcName(String dc) {
    if (dc == null || !isDcName(dc)) {
      throw new IllegalArgumentException(
          "datacenter name must be 1 to 63 of A-Z a-z 0-9 _ - and start with a letter, not '"
              + dc
              + "'");
    }
    return dc;
  }

  // Not a regular expression, since every replica that is read from the network is checked.
  private static boolean isDcName(String dc) {
    if (dc.isEmpty() || dc.length() > DC_NAME_LENGTH_MAX || !isLetter(dc.charAt(0))) {
      return false;
    }
    for (int i = 1; i < dc.length(); i++) {
      char c = dc.charAt(i);
      if (!isLetter(c) && !(c >= '0' && c <= '9') && c != '_' && c != '-') {
        return false;
      }
    }
    return true;
  }

  private static boolean isLetter(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  }

  @Override
  public int compareTo(ReplicaId other) {
    int byName = dc.compareTo(other.dc);
    return byName != 0 ? byName : Long.compare(incarnation, other.incarnation);
  }

  @Override
  public int hashCode() {
    return dc.hashCode() * 31 + Long.hashCode(incarnation);
  }

  @Override
  public boolean equals(Object o) {
    return o == this
        || (o instanceof ReplicaId r && r.incarnation == incarnation && r.dc.equals(dc));
  }

  @Override
  public String toString() {
    return dc + '/' + incarnation;
  }
}
