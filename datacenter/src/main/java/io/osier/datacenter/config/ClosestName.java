package io.osier.datacenter.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Which name was most likely meant by one that there is not. Pure. */
public final class ClosestName {
  /** One letter in so many may be wrong where a name is near another one. */
  private static final int LETTERS_PER_SLIP = 5;

  private ClosestName() {}

  /** The known name that is nearest, however far it is. */
  static String of(String name, Collection<String> known) {
    return known.stream().min(Comparator.comparingInt(k -> distance(k, name))).orElse("");
  }

  /** The known name that is nearest, if it is so near that it may well have been meant. */
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
