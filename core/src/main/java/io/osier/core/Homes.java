package io.osier.core;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Divides a keyspace's keys among homes: each home is a keyspace of its own, with the settings of
 * the keyspace that has them, and with holders of its own. A home stays for ever, since homes
 * decide where data lives; one is added only where no key exists that it would take.
 *
 * <p>A key belongs to the home that its tag names ({@link Partitioning.Hash#TAG}), or else its text
 * up to the first <code>:</code>; all other keys belong to the keyspace itself, the default home.
 *
 * @param names the names of the homes, in the form of datacenters' names, without duplicates: those
 *     with which the keyspace was created, sorted, then those that were added, in that order; empty
 *     means that there are no homes
 * @param added how many of these were added; 0 where that is not known, as at a client
 * @param adding the homes that are being added, sorted: they have no keys yet, and nobody else
 *     takes updates of keys that would belong to them
 */
public record Homes(List<String> names, int added, List<String> adding) {
  /** Most homes of a keyspace besides the default one. */
  public static final int MAX = 64;

  /** A keyspace without homes. */
  public static final Homes NONE = new Homes(List.of());

  /** Separates the name of a keyspace from that of a home. */
  private static final char AT = '@';

  public Homes {
    names = names.stream().map(Homes::checkName).distinct().toList();
    adding = adding.stream().map(Homes::checkName).distinct().sorted().toList();
    int all = names.size() + adding.size();
    if (all > MAX) {
      throw new IllegalArgumentException("a keyspace has at most " + MAX + " homes, not " + all);
    }
  }

  /** Creates the homes with which a keyspace is created. */
  public Homes(Collection<String> names) {
    this(names.stream().sorted().toList(), 0, List.of());
  }

  /** Returns the homes with which the keyspace was created. */
  public Homes first() {
    return new Homes(names.subList(0, names.size() - added), 0, List.of());
  }

  /** Returns these homes after those that are being added, which are no part of them yet. */
  private Homes grown() {
    return new Homes(
        Stream.of(names, adding).flatMap(List::stream).toList(), added + adding.size(), List.of());
  }

  /** Returns whether these are the former homes, or those and others that were added since. */
  public boolean hasGrownFrom(Homes former) {
    return names.size() >= former.names.size()
        && names.subList(0, former.names.size()).equals(former.names)
        && (!former.isEmpty() || isEmpty());
  }

  private static String checkName(String name) {
    try {
      return ReplicaId.checkDcName(name);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "a home is named as datacenters are, by 1 to 63 of A-Z a-z 0-9 _ - and a letter first,"
              + " not '"
              + name
              + "'",
          e);
    }
  }

  public boolean isEmpty() {
    return names.isEmpty();
  }

  /** Returns the home of a key; "" for the default one. */
  public String of(Key key) {
    if (names.isEmpty()) {
      return "";
    }
    int from = key.tagStart();
    String named = from == 0 ? "" : named(key, from, key.tagEnd(from));
    return named.isEmpty() ? named(key, 0, key.indexOf(':', 0)) : named;
  }

  /** Returns the home that is being added and would take a key; "" if none would. */
  public String taker(Key key) {
    if (adding.isEmpty()) {
      return "";
    }
    String then = grown().of(key);
    return adding.contains(then) ? then : "";
  }

  /** Returns the home that a part of a key names; "" if it names none. */
  private String named(Key key, int from, int to) {
    for (String name : names) {
      if (name.length() == to - from && isAt(key, from, name)) {
        return name;
      }
    }
    return "";
  }

  private static boolean isAt(Key key, int from, String name) {
    int i = 0;
    while (i < name.length() && key.byteAt(from + i) == name.charAt(i)) {
      i++;
    }
    return i == name.length();
  }

  /** Returns the keyspace of a key: {@code base}, which has these homes, or one of its homes. */
  public String keyspace(String base, Key key) {
    return keyspace(base, of(key));
  }

  /** Returns the keyspace of a home; the keyspace itself for the default one. */
  public static String keyspace(String base, String home) {
    return home.isEmpty() ? base : base + AT + home;
  }

  /** Returns the keyspaces of all homes, first the keyspace itself; for a home only itself. */
  public List<String> keyspaces(String base) {
    if (isHome(base)) {
      return List.of(base);
    }
    List<String> all = new ArrayList<>();
    all.add(base);
    names.forEach(home -> all.add(keyspace(base, home)));
    return all;
  }

  /** Whether a keyspace is a home of another one. */
  public static boolean isHome(String keyspace) {
    return keyspace.indexOf(AT) >= 0;
  }

  /** Returns the keyspace that has this home; the keyspace itself if it is no home. */
  public static String base(String keyspace) {
    int at = keyspace.indexOf(AT);
    return at < 0 ? keyspace : keyspace.substring(0, at);
  }

  /** Returns the name of the home that a keyspace is; "" for the default one. */
  public static String home(String keyspace) {
    return keyspace.substring(Math.min(keyspace.length(), base(keyspace).length() + 1));
  }

  /**
   * Checks that a key is in a keyspace, which has these homes or is one of them.
   *
   * @throws OsierException INVALID_ARGUMENT if the key belongs to another home; UNKNOWN_KEYSPACE if
   *     that was added: a client that has not heard of it asks again then
   */
  public void check(String keyspace, Key key) {
    if (isEmpty()) {
      return;
    }
    String home = of(key);
    // A home that is being added may be known elsewhere already: it has no keys, and takes none
    // yet.
    if (!home.equals(home(keyspace)) && !(isHome(keyspace) && taker(key).equals(home(keyspace)))) {
      boolean isAdded = names.indexOf(home) >= names.size() - added;
      throw OsierException.of(
          isAdded ? ErrorCode.UNKNOWN_KEYSPACE : ErrorCode.INVALID_ARGUMENT,
          String.format(
              Locale.ROOT,
              "nothing was done with key '%s': it is not in keyspace '%s', its home is '%s'",
              key,
              keyspace,
              keyspace(base(keyspace), home)));
    }
  }

  /**
   * Returns the one keyspace of several keys.
   *
   * @param what the call that is for keys of one home, for the error
   * @throws OsierException INVALID_ARGUMENT if they have several homes
   */
  public String one(String base, String what, Collection<Key> keys) {
    Key first = keys.iterator().next();
    String home = of(first);
    for (Key key : new TreeSet<>(keys)) {
      if (!of(key).equals(home)) {
        throw OsierException.of(
            ErrorCode.INVALID_ARGUMENT,
            String.format(
                Locale.ROOT,
                "nothing was done: %s is for keys of one home, and '%s' is in '%s', '%s' in '%s'",
                what,
                first,
                keyspace(base, home),
                key,
                keyspace(base, key)));
      }
    }
    return keyspace(base, home);
  }

  /** Returns the names as settings have them, sorted. */
  @Override
  public String toString() {
    return names.stream().sorted().collect(Collectors.joining(","));
  }
}
