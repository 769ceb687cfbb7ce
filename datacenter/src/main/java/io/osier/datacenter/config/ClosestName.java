package io.osier.datacenter.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the known name that an unknown one most likely means. Pure. */
public final class ClosestName {
  /** A name is near another one if at most one letter in this many is wrong. */
  private static final int LETTERS_PER_SLIP = 5;

  private ClosestName() {}

  /** Returns the nearest known name, however far it is. */
  static String of(String name, Collection<String> known) {
    return known.stream().min(Comparator.comparingInt(k -> distance(k, name))).orElse("");
  }

  /** Returns the nearest known name if it is near enough to have been meant. */
  public static Optional<String> near(String name, Collection<String> known) {
    return Optional.of(of(name, known))
        .filter(k -> !k.isEmpty())
        .filter(k -> distance(k, name) <= Math.max(2, name.length() / LETTERS_PER_SLIP));
  }

  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    Arrays.setAll(row, i -> i);
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substitute = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substitute, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[b.length()];
  }
}
