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
 * What a keyspace is to be like, for {@link Admin#ensureKeyspace} and its like. What is not said is
 * as a configuration file's default when a keyspace is created, and stays as it is where one is
 * there. Immutable.
 *
 * <pre>{@code
 * client.admin().ensureKeyspace("bank", k -> k.causal().sla(Duration.ofMillis(500)));
 * }</pre>
 */
public final class KeyspaceOptions {
  /** Nothing is said. */
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
   * How long after its commit an update is visible at every connected datacenter, at most.
   *
   * @param staleness 0 to an hour, in whole milliseconds; 0 ships everything at once
   */
  public KeyspaceOptions sla(Duration staleness) {
    return with("sla", millis("a staleness", staleness));
  }

  /** With transactions on causally consistent snapshots. Cannot be changed later. */
  public KeyspaceOptions causal() {
    return with("consistency", lower(Consistency.CAUSAL));
  }

  /** With the four session guarantees, which is the default. Cannot be changed later. */
  public KeyspaceOptions session() {
    return with("consistency", lower(Consistency.SESSION));
  }

  /**
   * The number of hash slices. Cannot be changed later.
   *
   * @param number 1 to 256; 1 in a causal keyspace
   */
  public KeyspaceOptions partitions(int number) {
    return with("partitions", Integer.toString(number));
  }

  /**
   * Keys with the same tag are in one partition: what is between the first <code>{</code> and the
   * first <code>}</code> behind that, as in Redis Cluster. Cannot be changed later.
   */
  public KeyspaceOptions hashedByTag() {
    return with("hash", lower(Partitioning.Hash.TAG));
  }

  /**
   * The homes of its keys besides the default one: each is a keyspace of its own, {@code carts@eu},
   * with as many partitions, whose {@code replicas}, laws and placement alone can be altered by
   * themselves. Where {@code replicas} names two or more, {@code holders-min} is 2. A key is in the
   * home that its tag names, or else its text up to the first {@code :}. Cannot be changed later.
   *
   * @param names 1 to 64, as datacenters are named; for a keyspace that is not causal
   */
  public KeyspaceOptions homes(String... names) {
    return with("homes", names("a home's name", names));
  }

  /**
   * The datacenters that hold it; all, without any. Can be changed later where it names some.
   *
   * @param datacenters their names
   */
  public KeyspaceOptions replicas(String... datacenters) {
    String names = names("a datacenter's name", datacenters);
    return with("replicas", names.isEmpty() ? "all" : names);
  }

  /**
   * So many datacenters hold it at least, at each moment of a change of its holders, too.
   *
   * @param number 1 or more
   */
  public KeyspaceOptions holdersMin(int number) {
    return with("holders-min", Integer.toString(number));
  }

  /**
   * Only these datacenters may hold it, whoever adds holders; without any, all may.
   *
   * @param datacenters their names
   */
  public KeyspaceOptions allow(String... datacenters) {
    return with("allow", names("a datacenter's name", datacenters));
  }

  /**
   * These datacenters may not hold it, whoever adds holders.
   *
   * @param datacenters their names
   */
  public KeyspaceOptions deny(String... datacenters) {
    return with("deny", names("a datacenter's name", datacenters));
  }

  /** Whether its holders follow the load: fixed, unless this says otherwise. */
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

  /** How updates travel: adaptive, unless this says otherwise. */
  public KeyspaceOptions propagation(Propagation how) {
    return with("propagation", lower(present(how, "a propagation")));
  }

  /** What leaves for an object whose updates are joined: what changed, or always all of it. */
  public KeyspaceOptions payload(StatePayload what) {
    return with("payload", lower(present(what, "a payload")));
  }

  /**
   * In a causal keyspace, how long the past can be read.
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

  /** The longest key that is taken, in bytes: 1 to 64 KiB. */
  public KeyspaceOptions keyBytesMax(int bytes) {
    return with("limits.key", bytes + "B");
  }

  /** The largest value or element that is taken, in bytes: 1 to 16 MiB. */
  public KeyspaceOptions valueBytesMax(int bytes) {
    return with("limits.value", bytes + "B");
  }

  /** The largest object that is taken, in bytes: 1 to 256 MiB. */
  public KeyspaceOptions objectBytesMax(int bytes) {
    return with("limits.object", bytes + "B");
  }

  private static String millis(String what, Duration duration) {
    return TimeLimit.millis(TimeLimit.notNegative(what, duration)) + "ms";
  }

  private static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  /** What is said, by the names and in the words of the configuration file. */
  SortedMap<String, String> settings() {
    return settings;
  }
}
