package io.osier.datacenter.control;

import io.osier.core.Homes;
import io.osier.core.ReplicaId;
import io.osier.datacenter.config.KeyspaceSettings;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The homes of a keyspace, as its map in {@code _osier} has them. The register {@code partitions}
 * has, behind the number of partitions and the hash, those with which it was created, those that
 * were added, and those that are being added:
 *
 * <pre>
 *   4 by tag homes ap=ap+eu,eu,us,+sa=eu+us adds jp,kr=eu+us 1700000000000-eu VIEW
 *   4 by tag homes ap=ap+eu,eu,us,+sa=eu+us opens jp,kr=eu+us 1700000000000-eu VIEW
 * </pre>
 *
 * <p>A name may be followed by the replicas that the home began with, where these are not those of
 * the keyspace. All is one value, so that of two alterations at once one counts, as a whole. A
 * version before 20 of the peer protocol cannot read a keyspace with homes that were added, or are
 * being added, and takes no part in it. Immutable and pure.
 *
 * @param first the homes with which the keyspace was created, sorted
 * @param added those that were added, in that order
 * @param replicas the replicas with which homes began, by home, if not those of the keyspace
 * @param addition the homes that are being added
 * @param found by datacenter, how far it has come with an addition: the addition's id, and behind
 *     it the key that its search has found, in words, or nothing, or {@link #OPEN}
 * @param refused why homes were not added when that was tried last, in words; empty if they were
 */
record HomeRecords(
    List<String> first,
    List<String> added,
    SortedMap<String, List<String>> replicas,
    Optional<Addition> addition,
    SortedMap<String, String> found,
    String refused) {
  /** A keyspace without homes. */
  static final HomeRecords NONE =
      new HomeRecords(List.of(), List.of(), new TreeMap<>(), Optional.empty(), new TreeMap<>(), "");

  /** Precedes the names of the homes, after the number of partitions and the hash. */
  private static final String WITH_HOMES = " homes ";

  /** Precedes the homes that are being added, while all search for keys of theirs. */
  private static final String ADDS = " adds ";

  /** Precedes the homes that are being added, once there are no such keys. */
  private static final String OPENS = " opens ";

  /** Precedes the name of a home that was added. */
  private static final String ADDED = "+";

  /** Precedes a home's replicas, after its name, if they differ from those of the keyspace. */
  private static final String HELD_BY = "=";

  /** Separates the replicas of a home. */
  private static final String AND = "+";

  /** Why homes were not added: the creation that is meant, and the words. */
  private static final String REFUSED = "_refused";

  /** What a datacenter has found in its search, or that it has opened the homes. */
  static final String FOUND = "_found.";

  private static final int ADDITION_WORDS = 3;

  /**
   * Noted by a datacenter that has opened the homes that are being added, as far as it holds them.
   */
  static final String OPEN = "open";

  /**
   * Homes that are being added.
   *
   * @param homes their names, sorted
   * @param replicas the replicas with which they will begin; empty for all datacenters
   * @param id tells additions apart; ends with the datacenter that decides about it
   * @param view the datacenters and holders for which it was asked ({@link HomeAdditions})
   * @param opens whether there are no keys that they would take, so that they are being opened
   */
  record Addition(
      List<String> homes, List<String> replicas, String id, String view, boolean opens) {
    /** Returns the datacenter that decides about it: the one that was asked for it. */
    String decider() {
      return id.substring(id.indexOf('-') + 1);
    }
  }

  HomeRecords {
    first = List.copyOf(first);
    added = List.copyOf(added);
    replicas = new TreeMap<>(replicas);
    found = new TreeMap<>(found);
  }

  /**
   * Reads the homes.
   *
   * @param texts the registers of the keyspace's map
   * @param created the keyspace's creation
   * @throws IllegalArgumentException if a later version has written them
   */
  static HomeRecords of(SortedMap<String, String> texts, String created) {
    String partitions = texts.getOrDefault(KeyspaceSettings.PARTITIONS, "");
    int begin = partitions.indexOf(WITH_HOMES);
    if (begin < 0) {
      return NONE;
    }
    String homes = partitions.substring(begin + WITH_HOMES.length());
    int adds = Math.max(homes.indexOf(ADDS), homes.indexOf(OPENS));
    SortedMap<String, List<String>> replicas = new TreeMap<>();
    List<String> first = new ArrayList<>();
    List<String> added = new ArrayList<>();
    for (String home : (adds < 0 ? homes : homes.substring(0, adds)).split(",", -1)) {
      boolean isAdded = home.startsWith(ADDED);
      int held = home.indexOf(HELD_BY);
      String name = home.substring(isAdded ? ADDED.length() : 0, held < 0 ? home.length() : held);
      (isAdded ? added : first).add(name);
      if (held >= 0) {
        replicas.put(name, names(home.substring(held + HELD_BY.length())));
      }
    }
    SortedMap<String, String> found = new TreeMap<>();
    texts.forEach(
        (field, value) -> {
          if (field.startsWith(FOUND)) {
            found.put(field.substring(FOUND.length()), value);
          }
        });
    String creation = created + " ";
    String refused = texts.getOrDefault(REFUSED, "");
    HomeRecords all =
        new HomeRecords(
            first,
            added,
            replicas,
            adds < 0 ? Optional.empty() : Optional.of(addition(homes.substring(adds))),
            found,
            refused.startsWith(creation) ? refused.substring(creation.length()) : "");
    all.homes(); // checks the names
    return all;
  }

  private static Addition addition(String text) {
    boolean opens = text.startsWith(OPENS);
    String[] words = text.substring((opens ? OPENS : ADDS).length()).split(" ", -1);
    int held = words[0].indexOf(HELD_BY);
    if (words.length != ADDITION_WORDS) {
      throw new IllegalArgumentException("an addition of a later version: " + text);
    }
    return new Addition(
        List.of(words[0].substring(0, held < 0 ? words[0].length() : held).split(",", -1)),
        held < 0 ? List.of() : names(words[0].substring(held + HELD_BY.length())),
        words[1],
        words[2],
        opens);
  }

  private static List<String> names(String text) {
    return Arrays.stream(text.split("\\" + AND, -1)).map(ReplicaId::checkDcName).toList();
  }

  /** Returns the register {@code partitions} without the homes: the number, and the hash. */
  static String withoutHomes(String partitions) {
    int begin = partitions.indexOf(WITH_HOMES);
    return begin < 0 ? partitions : partitions.substring(0, begin);
  }

  /** Returns the homes as the keyspace's policy has them. */
  Homes homes() {
    return new Homes(
        Stream.of(first, added).flatMap(List::stream).toList(),
        added.size(),
        addition.map(Addition::homes).orElse(List.of()));
  }

  /** Returns the homes' part of the register {@code partitions}. */
  String text() {
    List<String> names = new ArrayList<>();
    first.forEach(home -> names.add(home + heldBy(replicas.getOrDefault(home, List.of()))));
    added.forEach(home -> names.add(ADDED + home + heldBy(replicas.getOrDefault(home, List.of()))));
    return first.isEmpty()
        ? ""
        : WITH_HOMES
            + String.join(",", names)
            + addition
                .map(a -> (a.opens ? OPENS : ADDS) + String.join(",", a.homes) + heldBy(a.replicas))
                .map(adds -> adds + " " + addition.get().id + " " + addition.get().view)
                .orElse("");
  }

  private static String heldBy(List<String> replicas) {
    return replicas.isEmpty() ? "" : HELD_BY + String.join(AND, replicas);
  }

  // ---------------------------------------------------------------- changes

  /** Returns the homes while these are being added. */
  HomeRecords adding(Addition these) {
    return with(added, replicas, Optional.of(these));
  }

  /** Returns the homes while those that are being added are opened. */
  HomeRecords opening() {
    Addition now = addition.orElseThrow();
    return adding(new Addition(now.homes, now.replicas, now.id, now.view, true));
  }

  /** Returns the homes that have keyspaces: those that are being opened, too. */
  List<String> withKeyspaces() {
    return Stream.of(
            first,
            added,
            addition.filter(Addition::opens).map(Addition::homes).orElse(List.<String>of()))
        .flatMap(List::stream)
        .toList();
  }

  /** Returns the replicas that a home began with; empty if these are the keyspace's. */
  Optional<List<String>> began(String home) {
    return Optional.ofNullable(replicas.get(home))
        .or(
            () ->
                addition
                    .filter(a -> a.homes.contains(home) && !a.replicas.isEmpty())
                    .map(Addition::replicas));
  }

  /** Returns the homes after an addition that came to nothing. */
  HomeRecords withoutAddition() {
    return with(added, replicas, Optional.empty());
  }

  /** Returns the homes after an addition that was completed. */
  HomeRecords grown() {
    Addition done = addition.orElseThrow();
    List<String> names = Stream.of(added, done.homes).flatMap(List::stream).toList();
    SortedMap<String, List<String>> began = new TreeMap<>(replicas);
    if (!done.replicas.isEmpty()) {
      done.homes.forEach(home -> began.put(home, done.replicas));
    }
    return with(names, began, Optional.empty());
  }

  private HomeRecords with(
      List<String> names, SortedMap<String, List<String>> began, Optional<Addition> adds) {
    return new HomeRecords(first, names, began, adds, found, refused);
  }

  /**
   * Returns the registers to set.
   *
   * @param partitions the register {@code partitions}, without the homes
   * @param creation of the keyspace
   * @param why homes were not added, in words; empty if they were, or are being added
   */
  SortedMap<String, String> registers(String partitions, String creation, String why) {
    return new TreeMap<>(
        Map.of(KeyspaceSettings.PARTITIONS, partitions + text(), REFUSED, creation + " " + why));
  }

  /** Returns the register that notes what a datacenter has found in this addition. */
  SortedMap<String, String> finding(String dc, String what) {
    return new TreeMap<>(Map.of(FOUND + dc, addition.orElseThrow().id + " " + what));
  }

  /** Returns what a datacenter has found in this addition; empty if it has not said. */
  Optional<String> foundAt(String dc) {
    String id = addition.orElseThrow().id + " ";
    return Optional.ofNullable(found.get(dc))
        .filter(text -> text.startsWith(id))
        .map(text -> text.substring(id.length()));
  }
}
