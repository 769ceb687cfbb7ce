package io.osier.core;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * How a keyspace behaves. Every datacenter that holds it must have the same policy. Immutable.
 *
 * @param name 1 to 64 characters: a letter, then letters, digits, '.', '_' or '-'; of a home {@link
 *     Homes#keyspace}, with the same limit
 * @param consistency what a client may observe
 * @param sla the staleness bound δ: an update is visible at every connected datacenter at most this
 *     long after its commit; 0 ships everything at once
 * @param propagation how updates travel
 * @param payload what a flush of a state-mode object ships
 * @param replicas the datacenters that hold the keyspace, sorted, without duplicates; empty means
 *     all
 * @param partitioning into how many hash slices its keys are divided, and how; one for {@link
 *     Consistency#CAUSAL}
 * @param limits the largest sizes that are accepted
 * @param past how old what is read may be
 * @param rules the rules on which datacenters may hold it
 */
public record KeyspacePolicy(
    String name,
    Consistency consistency,
    Duration sla,
    Propagation propagation,
    StatePayload payload,
    List<String> replicas,
    Partitioning partitioning,
    Limits limits,
    PastReads past,
    PlacementRules rules) {

  /** Longest staleness bound: one hour. */
  public static final Duration SLA_MAX = Duration.ofHours(1);

  /** Longest past that can be kept: one hour. */
  public static final Duration HISTORY_MAX = Duration.ofHours(1);

  /** Most hash slices of a keyspace. */
  public static final int PARTITIONS_MAX = 256;

  /** The name of the control plane's keyspace; no other keyspace may have it. */
  public static final String CONTROL = "_osier";

  private static final int NAME_MAX = 64;

  private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9._-]{0,63}");

  /** The guarantees for what a client observes. */
  public enum Consistency {
    /** Updates are visible where they arrive; sessions keep the four session guarantees. */
    SESSION,
    /** Transactions read causally consistent snapshots and become visible atomically. */
    CAUSAL
  }

  /** How updates travel. */
  public enum Propagation {
    /** Every update at once. */
    OP,
    /** Every object's updates joined, just before the SLA runs out. */
    STATE,
    /**
     * The hot objects as {@link #STATE}, all others as {@link #OP}, decided while they are used.
     */
    ADAPTIVE
  }

  /** The payload of a flush of a state-mode object. */
  public enum StatePayload {
    /** The joined delta, or the full state where that is smaller. */
    DELTA,
    /** Always the full state, as the thesis did. */
    FULL
  }

  /**
   * The largest sizes that a keyspace accepts, in bytes.
   *
   * @param keyBytesMax 1 to {@link Key#LENGTH_MAX}
   * @param valueBytesMax one value or element, 1 to 16 MiB
   * @param objectBytesMax an object's encoded state, 1 to 256 MiB
   */
  public record Limits(int keyBytesMax, int valueBytesMax, int objectBytesMax) {
    /** Largest value that any keyspace may accept: 16 MiB. */
    public static final int VALUE_BYTES_CAP = 16 << 20;

    /** Largest object that any keyspace may accept: 256 MiB. */
    public static final int OBJECT_BYTES_CAP = 256 << 20;

    /** Keys of 1 KiB, values of 1 MiB, objects of 16 MiB. */
    public static final Limits DEFAULT = new Limits(1024, 1 << 20, 16 << 20);

    public Limits {
      check("keyBytesMax", keyBytesMax, Key.LENGTH_MAX);
      check("valueBytesMax", valueBytesMax, VALUE_BYTES_CAP);
      check("objectBytesMax", objectBytesMax, OBJECT_BYTES_CAP);
    }

    private static void check(String what, int value, int cap) {
      if (value < 1 || value > cap) {
        throw new IllegalArgumentException(what + " must be 1 to " + cap + ", not " + value);
      }
    }
  }

  /**
   * How old what is read may be.
   *
   * @param history in a {@link Consistency#CAUSAL} keyspace, how long the past can be read: 0 to
   *     {@link #HISTORY_MAX}
   * @param stale of a {@link Consistency#SESSION} keyspace, how old a read copy may be that answers
   *     while none of its holders can be reached: {@link #STALE_MIN} to {@link #STALE_MAX}; 0 for
   *     none
   */
  public record PastReads(Duration history, Duration stale) {
    /** A history of ten seconds, and nothing is stale. */
    public static final PastReads DEFAULT = new PastReads(Duration.ofSeconds(10), Duration.ZERO);

    /** Shortest age that may be allowed: a link that is silent is taken for lost after 5 s. */
    public static final Duration STALE_MIN = Duration.ofSeconds(10);

    /** Longest age that may be allowed: a day. */
    public static final Duration STALE_MAX = Duration.ofDays(1);

    public PastReads {
      if (history.isNegative() || history.compareTo(HISTORY_MAX) > 0) {
        throw new IllegalArgumentException(
            "history must be 0 to "
                + HISTORY_MAX.toSeconds()
                + " s, not "
                + history.toMillis()
                + " ms");
      }
      if (!stale.isZero() && (stale.compareTo(STALE_MIN) < 0 || stale.compareTo(STALE_MAX) > 0)) {
        throw new IllegalArgumentException(
            "stale-reads must be 0 (off), or %d s to %d h, not %d ms"
                .formatted(STALE_MIN.toSeconds(), STALE_MAX.toHours(), stale.toMillis()));
      }
    }
  }

  public KeyspacePolicy {
    if (!CONTROL.equals(name)) {
      checkName(name, partitioning.homes());
    }
    if (sla.isNegative() || sla.compareTo(SLA_MAX) > 0) {
      throw new IllegalArgumentException(
          "sla must be 0 to " + SLA_MAX.toSeconds() + " s, not " + sla.toMillis() + " ms");
    }
    if (consistency == Consistency.CAUSAL && partitioning.count() != 1) {
      throw new IllegalArgumentException(
          "a causal keyspace has 1 partition, not "
              + partitioning.count()
              + ": it has one sequencer");
    }
    if (consistency == Consistency.CAUSAL && !partitioning.homes().isEmpty()) {
      throw new IllegalArgumentException(
          "a causal keyspace has 1 partition, and so no homes besides itself");
    }
    replicas = replicas.stream().map(ReplicaId::checkDcName).distinct().sorted().toList();
  }

  /**
   * Checks a keyspace's name.
   *
   * @return the name
   * @throws IllegalArgumentException if it is not 1 to 64 of the allowed characters
   */
  public static String checkName(String name) {
    if (name == null || !NAME.matcher(name).matches()) {
      throw new IllegalArgumentException(
          "keyspace name must be 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter, not '"
              + name
              + "'");
    }
    return name;
  }

  private static void checkName(String name, Homes homes) {
    checkName(Homes.base(name));
    for (String home : Homes.isHome(name) ? List.of(name) : homes.keyspaces(name)) {
      if (home.length() > NAME_MAX) {
        throw new IllegalArgumentException(
            "the name of a home, '" + home + "', may have " + NAME_MAX + " characters");
      }
    }
    String own = Homes.home(name);
    if (!own.isEmpty() && !homes.names().contains(own) && !homes.adding().contains(own)) {
      throw new IllegalArgumentException("'" + name + "' is none of the homes " + homes);
    }
  }

  /** A session keyspace with two partitions, adaptive propagation and default limits. */
  public static KeyspacePolicy session(String name, Duration sla) {
    return new KeyspacePolicy(
        name,
        Consistency.SESSION,
        sla,
        Propagation.ADAPTIVE,
        StatePayload.DELTA,
        List.of(),
        Partitioning.byKey(2),
        Limits.DEFAULT,
        PastReads.DEFAULT,
        PlacementRules.NONE);
  }

  /** A causal keyspace with adaptive propagation and default limits. */
  public static KeyspacePolicy causal(String name, Duration sla) {
    return adaptive(name, Consistency.CAUSAL, sla, 1);
  }

  private static KeyspacePolicy adaptive(
      String name, Consistency consistency, Duration sla, int partitions) {
    return new KeyspacePolicy(
        name,
        consistency,
        sla,
        Propagation.ADAPTIVE,
        StatePayload.DELTA,
        List.of(),
        Partitioning.byKey(partitions),
        Limits.DEFAULT,
        PastReads.DEFAULT,
        PlacementRules.NONE);
  }

  /**
   * Returns the policy of the control plane's keyspace, which every datacenter holds: changes leave
   * at once.
   */
  public static KeyspacePolicy control() {
    return causal(CONTROL, Duration.ofMillis(500)).with(Propagation.OP);
  }

  /** Returns this policy with another propagation. */
  public KeyspacePolicy with(Propagation other) {
    return new KeyspacePolicy(
        name, consistency, sla, other, payload, replicas, partitioning, limits, past, rules);
  }

  /** Returns this policy with another state payload. */
  public KeyspacePolicy with(StatePayload other) {
    return new KeyspacePolicy(
        name, consistency, sla, propagation, other, replicas, partitioning, limits, past, rules);
  }

  /** Returns this policy with another number of partitions. */
  public KeyspacePolicy withPartitions(int other) {
    return with(new Partitioning(other, partitioning.hash(), partitioning.homes()));
  }

  /** Returns this policy with another partitioning. */
  public KeyspacePolicy with(Partitioning other) {
    return new KeyspacePolicy(
        name, consistency, sla, propagation, payload, replicas, other, limits, past, rules);
  }

  /**
   * Returns the policy of one of its homes: the same under another name; "" for the default home.
   */
  public KeyspacePolicy home(String home) {
    return new KeyspacePolicy(
        Homes.keyspace(name, home),
        consistency,
        sla,
        propagation,
        payload,
        replicas,
        partitioning,
        limits,
        past,
        rules);
  }

  /** Returns whether its keys have the same homes as with another policy. */
  public boolean hasHomesOf(KeyspacePolicy other) {
    return partitioning.homes().names().equals(other.partitioning.homes().names());
  }

  /** Returns this policy with other replicas; none means all. */
  public KeyspacePolicy withReplicas(List<String> other) {
    return new KeyspacePolicy(
        name, consistency, sla, propagation, payload, other, partitioning, limits, past, rules);
  }

  /** Returns this policy with other limits. */
  public KeyspacePolicy with(Limits other) {
    return new KeyspacePolicy(
        name, consistency, sla, propagation, payload, replicas, partitioning, other, past, rules);
  }

  /** Returns this policy with another history. */
  public KeyspacePolicy withHistory(Duration other) {
    PastReads reads = new PastReads(other, past.stale);
    return new KeyspacePolicy(
        name, consistency, sla, propagation, payload, replicas, partitioning, limits, reads, rules);
  }

  /** Returns this policy with other rules on who may hold it. */
  public KeyspacePolicy with(PlacementRules other) {
    return new KeyspacePolicy(
        name, consistency, sla, propagation, payload, replicas, partitioning, limits, past, other);
  }

  /** See {@link PastReads#history}. */
  public Duration history() {
    return past.history;
  }

  /** See {@link PastReads#stale}. */
  public Duration staleReads() {
    return past.stale;
  }

  /** Returns the number of hash slices, 1 to {@link #PARTITIONS_MAX}. */
  public int partitions() {
    return partitioning.count();
  }

  /** Whether the datacenter holds this keyspace. */
  public boolean heldBy(String dc) {
    return replicas.isEmpty() || replicas.contains(dc);
  }

  /**
   * Returns the parts on which all datacenters must agree, as text. Peers compare it when they
   * connect, and report a difference with both texts.
   */
  public String fingerprint() {
    return fingerprint(Optional.empty());
  }

  /**
   * As the other method, for a keyspace that may have been created at run time: then it omits the
   * limits, which may be altered while all datacenters serve.
   *
   * @param created what tells the keyspace from another of its name; empty for one of the
   *     configuration
   */
  public String fingerprint(Optional<String> created) {
    // Settings that older versions do not know are omitted where they are not used.
    String hash = partitioning.isByTag() ? ", hash=TAG" : "";
    // A home's keyspace has them in its base. Those that were added are no part of what all agreed.
    if (!partitioning.homes().isEmpty() && !Homes.isHome(name)) {
      hash += ", homes=" + partitioning.homes().first().names();
    }
    if (created.isPresent()) {
      return String.format(
          Locale.ROOT,
          "%s{created=%s, consistency=%s, replicas=%s, partitions=%d%s}",
          name,
          created.get(),
          consistency,
          replicas.isEmpty() ? "all" : replicas,
          partitions(),
          hash);
    }
    return String.format(
        Locale.ROOT,
        "%s{consistency=%s, replicas=%s, partitions=%d%s, limits=%d/%d/%d}",
        name,
        consistency,
        replicas.isEmpty() ? "all" : replicas,
        partitions(),
        hash,
        limits.keyBytesMax,
        limits.valueBytesMax,
        limits.objectBytesMax);
  }
}
