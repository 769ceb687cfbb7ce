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
 * Decides who may speak here: protocol, cluster and names must fit, and of each datacenter only the
 * newest incarnation that was ever heard of is let in, one process at a time. Pure; thread-safe.
 */
public final class Greeting {
  /** Largest one, in bytes: the texts of some thousand keyspaces. */
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

  /** By name, what versions were spoken with it. */
  private final Map<String, Spoken> spoken = new ConcurrentHashMap<>();

  /** By name, the version that a datacenter has said that it speaks. */
  private volatile Map<String, Integer> told = Map.of();

  private volatile Map<String, Long> incarnationsMin = Map.of();

  /**
   * The versions of the protocol that were spoken with a process.
   *
   * @param most the newest in which it has ever greeted here; 0 if it has not
   * @param last in which it has greeted here last; 0 if it has not
   * @param there in which it has welcomed this one last; 0 if it has not since it was upgraded
   */
  private record Spoken(ReplicaId replica, int most, int last, int there) {
    static Spoken of(ReplicaId replica, @Nullable Spoken known) {
      return known != null && known.replica.incarnation() >= replica.incarnation()
          ? known
          : new Spoken(replica, 0, 0, 0);
    }

    Spoken greetedIn(int version) {
      int counts = version > there ? 0 : there; // what it said before it spoke that does not
      return new Spoken(replica, Math.max(most, version), version, counts);
    }

    Spoken welcomesIn(int version) {
      return new Spoken(replica, most, last, version);
    }

    /**
     * One way alone says what it speaks at least. It may have been exchanged for an older program,
     * with its store; then it says so both ways, having refused the newer version in words.
     */
    int version() {
      return there == 0 ? most : Math.max(last, there);
    }
  }

  public Greeting(ProcessIdentity process) {
    this.self = process.replica();
    this.cluster = process.cluster();
    this.start = process.start();
    this.former = process.former();
    this.version = process.version();
  }

  /** The newest version of the protocol that this datacenter speaks. */
  int newest() {
    return version;
  }

  /**
   * This datacenter's own greeting to another one. Each has a larger number than those before it,
   * also where the other one was removed and added meanwhile: there, the connection of a former
   * time may still be open.
   *
   * @param version of the protocol that it speaks
   */
  public PeerMessage.Hello hello(String to, List<String> fingerprints, int version) {
    return new PeerMessage.Hello(
        version, cluster, self, to, fingerprints, dials.incrementAndGet(), start, former);
  }

  /**
   * This datacenter's answer to a greeting that is welcome.
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

  /** Which of several processes of one name and incarnation is talked to. */
  PeerIdentities identities() {
    return identities;
  }

  /** A datacenter has greeted here in a version of the protocol. */
  public void heard(ReplicaId replica, int version) {
    spoken.compute(replica.dc(), (dc, known) -> Spoken.of(replica, known).greetedIn(version));
  }

  /** A datacenter has welcomed this one in a version of the protocol: it refuses newer ones. */
  public void welcomed(ReplicaId replica, int version) {
    spoken.compute(replica.dc(), (dc, known) -> Spoken.of(replica, known).welcomesIn(version));
  }

  /**
   * What datacenters have said of themselves. Who says another version than before has been
   * exchanged: what was spoken with it before does not count any more.
   */
  public void setTold(Map<String, Integer> versions) {
    Map<String, Integer> before = told;
    told = Map.copyOf(versions);
    versions.forEach(
        (dc, version) -> {
          if (!version.equals(before.get(dc))) {
            spoken.remove(dc);
          }
        });
  }

  /**
   * The version that a datacenter speaks as far as is known: the oldest of all if nothing is. What
   * is known of a process does not get less by how its connections fare.
   */
  public int version(String dc) {
    return Math.max(PeerVersions.oldestNaming(dc), knownVersion(dc));
  }

  /** The version that a datacenter has spoken or has said that it speaks; 0 if none is known. */
  int knownVersion(String dc) {
    Spoken with = spoken.get(dc);
    return with != null ? with.version() : told.getOrDefault(dc, 0);
  }

  /**
   * The oldest version that is spoken beside these others: one in which this datacenter can be
   * spoken of, and each of them that was let in here or has said what it speaks.
   */
  int oldest(Set<String> peers) {
    return PeerVersions.oldestNaming(hardest(peers));
  }

  /** Of these, the one whose name needs the newest version to be spoken of. */
  String hardest(Set<String> peers) {
    return peers.stream()
        .filter(peer -> PeerVersions.oldestNaming(peer) > PeerVersions.oldestNaming(self.dc()))
        .filter(this::isIn)
        .max(Comparator.comparingInt(PeerVersions::oldestNaming).thenComparing(peer -> peer))
        .orElse(self.dc());
  }

  /** Whether it was let in, here or elsewhere: then it was before who is too old to read it. */
  private boolean isIn(String dc) {
    Spoken with = spoken.get(dc);
    return told.containsKey(dc) || (with != null && with.last != 0);
  }

  /** An incarnation of a datacenter was talked to; what follows for those before it. */
  List<Runnable> met(ReplicaId replica) {
    newest.merge(replica.dc(), replica.incarnation(), Math::max);
    return identities.forgetBefore(replica);
  }

  /**
   * Older incarnations than these were given up: they are refused. Of who is none of the cluster
   * any more that is each, {@link Long#MAX_VALUE}.
   */
  void setIncarnationsMin(Map<String, Long> incarnations) {
    incarnationsMin = Map.copyOf(incarnations);
  }

  /** Why an incarnation is refused that was given up; empty if it was not. */
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

  /** Forgets whom it has met of all but these; what follows for those. */
  List<Runnable> forgetOthers(Set<String> peers) {
    newest.keySet().retainAll(peers);
    spoken.keySet().retainAll(peers);
    return identities.forgetOthers(peers);
  }

  /**
   * Judges a greeting.
   *
   * @param peers the names of the other datacenters
   * @param connected the incarnation of that name whose other connection to here is open
   * @param certified what the certificate names that was shown; empty without TLS
   * @return why it is refused; empty if it is welcome
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
              + " ADDRESS' at a datacenter of the cluster to add it");
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
   * Why a datacenter cannot join yet whose name not all others can read; empty if they can. Of whom
   * no version is known is not in the way: should it be too old, it is refused itself.
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
   * What is wrong with a certificate that was shown as that of a datacenter; empty if nothing is.
   *
   * @param names that are in it
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
    // What is met by dialling is not in the way: the newcomer itself may be that.
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
