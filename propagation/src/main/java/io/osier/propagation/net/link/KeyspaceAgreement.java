package io.osier.propagation.net.link;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The keyspaces that two datacenters both hold and agree on. A keyspace that differs, or that only
 * one of them knows, is not replicated between them, and the others are.
 *
 * @param agreed the names of the keyspaces on which both agree
 * @param differing by name, what differs in the other keyspaces, in words; without keyspaces that
 *     were created at run time, which one datacenter opens and drops after the other
 */
public record KeyspaceAgreement(List<String> agreed, SortedMap<String, String> differing) {
  /** The most keyspaces reported that only the other datacenter knows: there may be any number. */
  private static final int UNKNOWN_MAX = 100;

  /**
   * Compares the keyspaces of two datacenters.
   *
   * @param here a datacenter's name
   * @param mine the fingerprints of the keyspaces that it thinks both hold
   * @param there the other one's name
   * @param theirs its fingerprints
   */
  public static KeyspaceAgreement of(
      String here, List<String> mine, String there, List<String> theirs) {
    Map<String, String> other = new HashMap<>();
    theirs.stream().filter(f -> !f.isEmpty()).forEach(f -> other.put(name(f), f));
    List<String> agreed = new ArrayList<>();
    SortedMap<String, String> differing = new TreeMap<>();
    for (String fingerprint : mine) {
      if (fingerprint.isEmpty()) {
        continue; // older programs send it for a keyspace that is held no more
      }
      String name = name(fingerprint);
      String their = other.remove(name);
      if (fingerprint.equals(their)) {
        agreed.add(name);
      } else if (!isOfRunTime(fingerprint) || isSameCreation(fingerprint, their)) {
        differing.put(
            name,
            their == null
                ? "not configured at " + there + " for " + here
                : difference(here, parts(fingerprint), there, parts(their)));
      } // else the other one opens or drops it, too, as soon as it hears of it
    }
    other.entrySet().stream()
        .filter(e -> !isOfRunTime(e.getValue()))
        .limit(UNKNOWN_MAX)
        .forEach(e -> differing.put(e.getKey(), "not configured at " + here + " for " + there));
    return new KeyspaceAgreement(agreed, differing);
  }

  private static String difference(
      String here, Map<String, String> mine, String there, Map<String, String> theirs) {
    List<String> differences = new ArrayList<>();
    Map<String, String> all = new TreeMap<>(mine);
    all.putAll(theirs);
    for (String part : all.keySet()) {
      String none = part.equals("hash") ? "KEY" : "nothing"; // a fingerprint omits a hash by key
      String a = mine.getOrDefault(part, none);
      String b = theirs.getOrDefault(part, none);
      if (!a.equals(b)) {
        differences.add(part + " is " + a + " at " + here + " and " + b + " at " + there);
      }
    }
    return String.join(", ", differences);
  }

  private static boolean isSameCreation(String fingerprint, @Nullable String other) {
    return other != null
        && isOfRunTime(other)
        && Objects.equals(parts(fingerprint).get("created"), parts(other).get("created"));
  }

  /** Whether a fingerprint is of a keyspace that was created at run time. */
  private static boolean isOfRunTime(String fingerprint) {
    return fingerprint.startsWith("{created=", name(fingerprint).length());
  }

  public static String name(String fingerprint) {
    int end = fingerprint.indexOf('{');
    return end < 0 ? fingerprint : fingerprint.substring(0, end);
  }

  /** Parses "name{a=1, b=[x, y]}" into its parts: a is 1, b is [x, y]. */
  private static Map<String, String> parts(String fingerprint) {
    Map<String, String> parts = new TreeMap<>();
    int begin = fingerprint.indexOf('{') + 1;
    int end = fingerprint.endsWith("}") ? fingerprint.length() - 1 : fingerprint.length();
    for (String part : fingerprint.substring(begin, end).split(", (?=\\w+=)", -1)) {
      int is = part.indexOf('=');
      parts.put(is < 0 ? part : part.substring(0, is), is < 0 ? "" : part.substring(is + 1));
    }
    return parts;
  }
}
