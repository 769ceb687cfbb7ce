package io.osier.propagation.net;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.tls.TlsName;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Decides which processes may connect: protocol, cluster and names must fit, and of each datacenter
 * only the newest known incarnation is accepted, one process at a time. Pure; thread-safe.
 */
public final class Greeting {
  /** The size of the largest greeting, in bytes: the texts of some thousand keyspaces. */
  static final int BYTES_MAX = 1 << 20;

  private static final long NONE_COUNTS = Long.MAX_VALUE;

  private final ReplicaId self;
  private final String cluster;
  private final long start;
  private final List<Long> former;
  private final PeerIdentities identities = new PeerIdentities();
  private final int version;
  private final AtomicLong dials = new AtomicLong();
  private final Map<String, Long> newest = new ConcurrentHashMap<>();

  /** By name, the versions that were spoken with the datacenter. */
  private final Map<String, Spoken> spoken = new ConcurrentHashMap<>();

  /** By name, the version that a datacenter has published as its own. */
  private volatile Map<String, Integer> published = Map.of();

  private volatile Map<String, Long> incarnationsMin = Map.of();

  /**
   * The versions of the protocol that were spoken with a process.
   *
   * @param most the newest in which it has ever greeted here; 0 if it has not
   * @param last the one in which it has greeted here last; 0 if it has not
   * @param welcomed the one in which it has welcomed this process last; 0 if it has not since it
   *     was upgraded
   */
  private record Spoken(ReplicaId replica, int most, int last, int welcomed) {
    static Spoken of(ReplicaId replica, @Nullable Spoken known) {
      return known != null && known.replica.incarnation() >= replica.incarnation()
          ? known
          : new Spoken(replica, 0, 0, 0);
    }

    Spoken greetedIn(int version) {
      // Its welcomes from before it spoke that version do not count.
      int counts = version > welcomed ? 0 : welcomed;
      return new Spoken(replica, Math.max(most, version), version, counts);
    }

    Spoken welcomesIn(int version) {
      return new Spoken(replica, most, last, version);
    }

    /**
     * Returns the version that the process speaks. One direction alone shows only the least that it
     * speaks. It may have been replaced by an older program with the same store; then it speaks the
     * older version in both directions, after it has refused the newer one explicitly.
     */
    int version() {
      return welcomed == 0 ? most : Math.max(last, welcomed);
    }
  }

  public Greeting(ProcessIdentity process) {
    this.self = process.replica();
    this.cluster = process.cluster();
    this.start = process.start();
    this.former = process.former();
    this.version = process.version();
  }

  /** Returns the newest version of the protocol that this datacenter speaks. */
  int newest() {
    return version;
  }

  /**
   * Returns this datacenter's greeting to another one. Each has a larger number than those before
   * it, even if the other datacenter was removed and added meanwhile: a connection from before may
   * still be open there.
   *
   * @param fingerprints of the keyspaces that both hold
   * @param version of the protocol that it speaks
   */
  public PeerMessage.Hello hello(String to, List<String> fingerprints, int version) {
    return new PeerMessage.Hello(
        version, cluster, self, to, fingerprints, dials.incrementAndGet(), start, former);
  }

  /**
   * Returns this datacenter's answer to a greeting that is accepted.
   *
   * @param fingerprints of the keyspaces that both hold, as this datacenter sees them
   */
  PeerMessage.Welcome welcome(PeerMessage.Hello hello, List<String> fingerprints) {
    return new PeerMessage.Welcome(
        self,
        fingerprints.equals(hello.keyspaces()) ? Optional.empty() : Optional.of(fingerprints),
        hello.protocolVersion() >= PeerVersions.STARTS ? start : 0,
        former);
  }

  /** Returns the part that chooses between several processes of one name and incarnation. */
  PeerIdentities identities() {
    return identities;
  }

  /** Notes that a datacenter has greeted here in a version of the protocol. */
  public void heard(ReplicaId replica, int version) {
    spoken.compute(replica.dc(), (dc, known) -> Spoken.of(replica, known).greetedIn(version));
  }

  /**
   * Notes that a datacenter has welcomed this one in a version of the protocol: it refuses newer
   * ones.
   */
  public void welcomed(ReplicaId replica, int version) {
    spoken.compute(replica.dc(), (dc, known) -> Spoken.of(replica, known).welcomesIn(version));
  }

  /**
   * Sets the versions that datacenters have published. A datacenter that publishes another version
   * than before has been replaced: the version that it spoke before does not count any more.
   */
  public void setTold(Map<String, Integer> versions) {
    Map<String, Integer> before = published;
    published = Map.copyOf(versions);
    versions.forEach(
        (dc, version) -> {
          if (!version.equals(before.get(dc))) {
            spoken.remove(dc);
          }
        });
  }

  /**
   * Returns the version that a datacenter speaks as far as is known; the oldest of all if nothing
   * is. Failing connections do not lower what is known of a process.
   */
  public int version(String dc) {
    return Math.max(PeerVersions.oldestNaming(dc), knownVersion(dc));
  }

  /** Returns the version that a datacenter has spoken or published; 0 if none is known. */
  int knownVersion(String dc) {
    Spoken with = spoken.get(dc);
    return with != null ? with.version() : published.getOrDefault(dc, 0);
  }

  /**
   * Returns the oldest version that may be spoken while there are these other datacenters: it must
   * be able to carry the names of this datacenter and of each of them that was accepted here or has
   * published its version.
   */
  int oldest(Set<String> peers) {
    return PeerVersions.oldestNaming(hardest(peers));
  }

  /** Returns the datacenter among these whose name needs the newest version to be carried. */
  String hardest(Set<String> peers) {
    return peers.stream()
        .filter(peer -> PeerVersions.oldestNaming(peer) > PeerVersions.oldestNaming(self.dc()))
        .filter(this::isIn)
        .max(Comparator.comparingInt(PeerVersions::oldestNaming).thenComparing(peer -> peer))
        .orElse(self.dc());
  }

  /**
   * Whether it was accepted, here or elsewhere: then before any process that is too old for its
   * name.
   */
  private boolean isIn(String dc) {
    Spoken with = spoken.get(dc);
    return published.containsKey(dc) || (with != null && with.last != 0);
  }

  /**
   * Notes that an incarnation of a datacenter was accepted; returns what to do for earlier ones.
   */
  List<Runnable> met(ReplicaId replica) {
    newest.merge(replica.dc(), replica.incarnation(), Math::max);
    return identities.forgetBefore(replica);
  }

  /**
   * Sets by name the oldest incarnations that are accepted; older ones were given up. For a
   * datacenter that was removed from the cluster it is {@link Long#MAX_VALUE}, which refuses all.
   */
  void setIncarnationsMin(Map<String, Long> incarnations) {
    incarnationsMin = Map.copyOf(incarnations);
  }

  /** Returns why an incarnation is refused that was given up; empty if it was not. */
  Optional<String> givenUp(ReplicaId replica) {
    String dc = replica.dc();
    long min = incarnationsMin.getOrDefault(dc, 0L);
    if (replica.incarnation() >= min) {
      return Optional.empty();
    }
    boolean isGone = min == NONE_COUNTS;
    String add = isGone ? ", 'osier cli dc add " + dc + " ADDRESS' elsewhere" : "";
    String least = isGone ? "" : "; where its clock is behind, with osier.incarnation-min = " + min;
    return Optional.of(
        "datacenter '"
            + dc
            + "' was removed from the cluster, and what it stores is out of date: end it, run"
            + " 'osier rebuild' there"
            + add
            + ", and start it again"
            + least);
  }

  /** Forgets all datacenters but these; returns what to do for the others' connections. */
  List<Runnable> forgetOthers(Set<String> peers) {
    newest.keySet().retainAll(peers);
    spoken.keySet().retainAll(peers);
    return identities.forgetOthers(peers);
  }

  /**
   * Judges a greeting.
   *
   * @param peers the names of the other datacenters
   * @param connected the incarnation of that name that has another open connection to here
   * @param certified the names in the certificate that was shown; empty without TLS
   * @return why it is refused; empty if it is accepted
   */
  public Optional<PeerMessage.Refused> judge(
      PeerMessage.Hello hello,
      Set<String> peers,
      Optional<ReplicaId> connected,
      Optional<Set<String>> certified) {
    String dc = hello.replica().dc();
    int oldest = oldest(peers);
    if (hello.protocolVersion() < oldest || hello.protocolVersion() > version) {
      return refuse(
          ErrorCode.VERSION_MISMATCH,
          "peer protocol "
              + hello.protocolVersion()
              + " is not one of "
              + oldest
              + " to "
              + version
              + ", which this datacenter speaks"
              + (oldest > PeerVersions.OLDEST ? " beside the name '" + hardest(peers) + "'" : ""));
    }
    if (!hello.cluster().equals(cluster)) {
      return refuse(
          ErrorCode.CONFIGURATION,
          "cluster '" + hello.cluster() + "' is not '" + cluster + "', which this one belongs to");
    }
    if (!hello.to().equals(self.dc())) {
      return refuse(
          ErrorCode.CONFIGURATION,
          "this is " + self.dc() + ", not " + hello.to() + "; check the peers' addresses");
    }
    Optional<String> givenUp = givenUp(hello.replica());
    if (givenUp.isPresent()) {
      return refuse(ErrorCode.NOT_A_MEMBER, givenUp.get());
    }
    if (!peers.contains(dc) && !dc.equals(self.dc())) {
      return refuse(
          ErrorCode.CONFIGURATION,
          "datacenter '"
              + dc
              + "' is not among the peers "
              + peers
              + " of "
              + self.dc()
              + ": it stands in no configuration file here and was not added; run 'osier cli dc add"
              + " "
              + dc
              + " ADDRESS' at a datacenter of the cluster to add it; if it was added there before, "
              + self.dc()
              + " does not know of it (an old backup, an empty store): name it under osier.peers of"
              + " "
              + self.dc()
              + ", and restart that");
    }
    Optional<String> misnamed = certified.flatMap(names -> misnamed(dc, names));
    if (misnamed.isPresent()) {
      return refuse(ErrorCode.CONFIGURATION, misnamed.get());
    }
    Optional<String> illegible = illegible(dc, peers);
    if (illegible.isPresent()) {
      return refuse(ErrorCode.UNAVAILABLE, illegible.get());
    }
    return judge(hello.replica(), connected);
  }

  /**
   * Returns why a datacenter cannot join yet, because not all others can read its name; empty if
   * they can. A peer whose version is unknown does not prevent it: if it is too old, it is refused
   * itself.
   */
  private Optional<String> illegible(String dc, Set<String> peers) {
    int needed = PeerVersions.oldestNaming(dc);
    return peers.stream()
        .filter(peer -> !peer.equals(dc) && knownVersion(peer) != 0 && version(peer) < needed)
        .findFirst()
        .map(
            peer ->
                "the name '"
                    + dc
                    + "' needs version "
                    + needed
                    + " of the peer protocol everywhere, and '"
                    + peer
                    + "' speaks version "
                    + version(peer)
                    + " as far as "
                    + self.dc()
                    + " knows: upgrade it first");
  }

  /**
   * Returns the error in a certificate that was shown as that of a datacenter; empty if there is
   * none.
   *
   * @param names the names in it
   */
  Optional<String> misnamed(String dc, Set<String> names) {
    String wanted = TlsName.ofDatacenter(cluster, dc);
    return names.contains(wanted)
        ? Optional.empty()
        : Optional.of(
            "the certificate that was shown names "
                + (names.isEmpty() ? "no datacenter" : String.join(", ", names))
                + ", not "
                + wanted
                + "; each datacenter needs one of its own (osier cert dc)");
  }

  private Optional<PeerMessage.Refused> judge(ReplicaId replica, Optional<ReplicaId> connected) {
    String dc = replica.dc();
    long known = newest.getOrDefault(dc, 0L);
    boolean isSelf = dc.equals(self.dc());
    boolean another = connected.isPresent() && !connected.get().equals(replica);
    if (!isSelf && !another && replica.incarnation() >= known) {
      return Optional.empty();
    }
    // An incarnation that was met by dialling is not in the way: it may be the newcomer itself.
    long inTheWay =
        another && replica.incarnation() >= known ? connected.get().incarnation() : known;
    return Optional.of(
        new PeerMessage.Refused(
            ErrorCode.DUPLICATE_DC,
            "another process already runs as '"
                + dc
                + "' (incarnation "
                + (isSelf ? self.incarnation() : inTheWay)
                + "; yours is "
                + replica.incarnation()
                + "). Each datacenter needs a name of its own; if the clock went back, set"
                + " osier.incarnation-min to a larger number",
            inTheWay));
  }

  private static Optional<PeerMessage.Refused> refuse(ErrorCode code, String message) {
    return Optional.of(new PeerMessage.Refused(code, message, 0));
  }
}
