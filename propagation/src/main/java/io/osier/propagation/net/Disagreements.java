package io.osier.propagation.net;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Tells which differences between this datacenter's keyspaces and others' last. While a keyspace is
 * created, moved or altered, one datacenter knows that earlier than the other, and they differ for
 * a moment. Thread-safe; runs nobody else's code.
 */
final class Disagreements {
  /** A difference that is there for so long is worth a line of the log. */
  static final long LASTING_MILLIS = 10_000;

  /** A keyspace's difference, from when it was found until it is another one, or none. */
  static final class Difference {
    private final String keyspace;
    private final String what;
    private boolean isSaid;

    private Difference(String keyspace, String what) {
      this.keyspace = keyspace;
      this.what = what;
    }

    String keyspace() {
      return keyspace;
    }

    /** Returns in words how the two differ. */
    String what() {
      return what;
    }
  }

  /** The present differences by datacenter and keyspace. */
  private final Map<String, SortedMap<String, Difference>> all = new HashMap<>();

  /**
   * The result of a comparison.
   *
   * @param found the differences that are new: to be looked at again after {@link #LASTING_MILLIS}
   * @param isMended whether a difference was said to last, and there is none any more
   */
  record Compared(List<Difference> found, boolean isMended) {
    Compared {
      found = List.copyOf(found);
    }
  }

  /**
   * Takes the differences to a datacenter.
   *
   * @param differing how they differ, by keyspace
   */
  synchronized Compared compared(String dc, Map<String, String> differing) {
    SortedMap<String, Difference> before = all.getOrDefault(dc, new TreeMap<>());
    SortedMap<String, Difference> now = new TreeMap<>();
    List<Difference> found = new ArrayList<>();
    differing.forEach(
        (keyspace, what) -> {
          Difference known = before.get(keyspace);
          if (known == null || !known.what.equals(what)) {
            known = new Difference(keyspace, what);
            found.add(known);
          }
          now.put(keyspace, known);
        });
    all.put(dc, now);
    return new Compared(found, now.isEmpty() && before.values().stream().anyMatch(d -> d.isSaid));
  }

  /** Returns those of the differences that are still there, each once, in the order given. */
  synchronized List<Difference> lasting(String dc, List<Difference> found) {
    SortedMap<String, Difference> now = all.getOrDefault(dc, new TreeMap<>());
    List<Difference> lasting =
        found.stream().filter(d -> !d.isSaid && now.get(d.keyspace) == d).toList();
    lasting.forEach(d -> d.isSaid = true);
    return lasting;
  }

  /** Forgets what is known of a datacenter. */
  synchronized void forget(String dc) {
    all.remove(dc);
  }
}
