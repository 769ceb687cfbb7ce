package io.osier.core;

import java.util.regex.Pattern;

/**
 * One life of one datacenter: its short name and its incarnation. A datacenter that starts without
 * what it had acknowledged takes a larger incarnation, so that none of its dots is ever used twice
 * (invariant I4).
 *
 * @param dc short name, 1 to 16 characters: a letter, then letters, digits, '-' or '_'
 * @param incarnation 1 or larger; larger is later
 */
public record ReplicaId(String dc, long incarnation) implements Comparable<ReplicaId> {
  /** Longest name of a datacenter, in characters. */
  public static final int DC_NAME_LENGTH_MAX = 16;

  private static final Pattern DC_NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_-]{0,15}");

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
   * @throws IllegalArgumentException if it is not 1 to 16 characters, a letter first
   */
  public static String checkDcName(String dc) {
    if (dc == null || !DC_NAME.matcher(dc).matches()) {
      throw new IllegalArgumentException(
          "datacenter name must be 1 to 16 of A-Z a-z 0-9 _ - and start with a letter, not '"
              + dc
              + "'");
    }
    return dc;
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
