package io.osier.proxy;

import static io.osier.core.Present.present;

import io.osier.core.KeyspacePolicy.Consistency;
import io.osier.core.KeyspacePolicy.Propagation;
import io.osier.core.KeyspacePolicy.StatePayload;
import io.osier.core.Partitioning;
import io.osier.core.PlacementRules.Placement;
import io.osier.core.time.TimeLimit;
import java.time.Duration;
import java.util.Collections;
import java.util.Locale;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The wanted settings of a keyspace, for {@link Admin#ensureKeyspace} and the like. A setting that
 * is not named has a configuration file's default when the keyspace is created, and stays as it is
 * when the keyspace exists. Immutable.
 *
 * <pre>{@code
 * client.admin().ensureKeyspace("bank", k -> k.causal().sla(Duration.ofMillis(500)));
 * }</pre>
 */
public final class KeyspaceOptions {
  /** No settings are named. */
  static final KeyspaceOptions DEFAULT = new KeyspaceOptions(Collections.emptySortedMap());

  private final SortedMap<String, String> settings;

  private KeyspaceOptions(SortedMap<String, String> settings) {
    this.settings = settings;
  }

  private KeyspaceOptions with(String name, String value) {
    SortedMap<String, String> all = new TreeMap<>(settings);
    all.put(name, value);
    return new KeyspaceOptions(Collections.unmodifiableSortedMap(all));
  }

  /**
   * Sets the staleness bound: how long after its commit an update is visible at every connected
   * datacenter, at most.
   *
   * @param staleness 0 to an hour, in whole milliseconds; 0 ships everything at once
   */
  public KeyspaceOptions sla(Duration staleness) {
    return with("sla", millis("a staleness", staleness));
  }

  /** Chooses causal consistency, with transactions on snapshots. Cannot be changed later. */
  public KeyspaceOptions causal() {
    return with("consistency", lower(Consistency.CAUSAL));
  }

  /** Chooses the four session guarantees, which is the default. Cannot be changed later. */
  public KeyspaceOptions session() {
    return with("consistency", lower(Consistency.SESSION));
  }

  /**
   * Sets the number of partitions. Cannot be changed later.
   *
   * @param number 1 to 256; 1 in a causal keyspace
   */
  public KeyspaceOptions partitions(int number) {
    return with("partitions", Integer.toString(number));
  }

  /**
   * Places keys with the same tag into one partition, as in Redis Cluster: the tag is the text
   * between the first <code>{</code> and the next <code>}</code>. Cannot be changed later.
   */
  public KeyspaceOptions hashedByTag() {
    return with("hash", lower(Partitioning.Hash.TAG));
  }

  /**
   * Names the homes of the keyspace's keys besides the default one. Each home is a keyspace of its
   * own, such as {@code carts@eu}, with as many partitions; only its {@code replicas}, its laws
   * ({@code holders-min}, {@code allow}, {@code deny}) and its placement can be altered separately.
   * Where {@code replicas} names two or more datacenters, {@code holders-min} is 2. A key belongs
   * to the home that its tag names, or else its text up to the first {@code :}.
   *
   * <p>Later, homes can be added to a keyspace that was created with some, where no key exists that
   * they would take; name all homes then. {@link KeyspaceStatus#settings} says under {@code adding}
   * how far that has come, or why it was not done.
   *
   * @param names 1 to 64 names, formed like datacenters' names; the keyspace must not be causal
   */
  public KeyspaceOptions homes(String... names) {
    return with("homes", names("a home's name", names));
  }

  /**
   * Names the datacenters that hold the keyspace. Can be changed later, unless all hold it.
   *
   * @param datacenters their names; none for all datacenters
   */
  public KeyspaceOptions replicas(String... datacenters) {
    String names = names("a datacenter's name", datacenters);
    return with("replicas", names.isEmpty() ? "all" : names);
  }

  /**
   * Sets how many datacenters hold the keyspace at least, also while its holders change.
   *
   * @param number 1 or more
   */
  public KeyspaceOptions holdersMin(int number) {
    return with("holders-min", Integer.toString(number));
  }

  /**
   * Lets only these datacenters hold the keyspace, for holders that are added by a command and by
   * the load.
   *
   * @param datacenters their names; none to allow all
   */
  public KeyspaceOptions allow(String... datacenters) {
    return with("allow", names("a datacenter's name", datacenters));
  }

  /**
   * Forbids these datacenters to hold the keyspace, for holders that are added by a command and by
   * the load.
   *
   * @param datacenters their names
   */
  public KeyspaceOptions deny(String... datacenters) {
    return with("deny", names("a datacenter's name", datacenters));
  }

  /** Sets whether the keyspace's holders follow the load; fixed unless set. */
  public KeyspaceOptions placement(Placement how) {
    return with("placement", lower(present(how, "a placement")));
  }

  private static String names(String what, String... names) {
    SortedSet<String> sorted = new TreeSet<>();
    for (String name : names) {
      sorted.add(present(name, what));
    }
    return String.join(",", sorted);
  }

  /** Sets whether updates travel one by one, joined, or by adaptive choice; adaptive unless set. */
  public KeyspaceOptions propagation(Propagation how) {
    return with("propagation", lower(present(how, "a propagation")));
  }

  /**
   * Sets what is shipped of an object whose updates are joined: the change, or always the whole
   * state.
   */
  public KeyspaceOptions payload(StatePayload what) {
    return with("payload", lower(present(what, "a payload")));
  }

  /**
   * Sets how long past snapshots of a causal keyspace can be read.
   *
   * @param past 0 to an hour, in whole milliseconds
   */
  public KeyspaceOptions history(Duration past) {
    return with("history", millis("a history", past));
  }

  /**
   * How old a read copy may be that answers where the keyspace is not held while none of its
   * holders can be reached; such an answer says its age ({@link ObjectSpace#aged}). Without it, or
   * with 0, such reads fail with UNAVAILABLE. In a {@code session} keyspace.
   *
   * @param age 0, or 10 s to 24 h, in whole milliseconds
   */
  public KeyspaceOptions staleReads(Duration age) {
    return with("stale-reads", millis("an age", age));
  }

  /** Limits the keys, in bytes: 1 to 64 KiB. */
  public KeyspaceOptions keyBytesMax(int bytes) {
    return with("limits.key", bytes + "B");
  }

  /** Limits each value and element, in bytes: 1 to 16 MiB. */
  public KeyspaceOptions valueBytesMax(int bytes) {
    return with("limits.value", bytes + "B");
  }

  /** Limits each object, in bytes: 1 to 256 MiB. */
  public KeyspaceOptions objectBytesMax(int bytes) {
    return with("limits.object", bytes + "B");
  }

  private static String millis(String what, Duration duration) {
    return TimeLimit.millis(TimeLimit.notNegative(what, duration)) + "ms";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** Returns the named settings, by their names and in the syntax of the configuration file. */
  SortedMap<String, String> settings() {
    return settings;
  }
}
