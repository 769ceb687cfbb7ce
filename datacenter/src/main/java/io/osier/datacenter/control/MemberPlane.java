package io.osier.datacenter.control;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.crdt.Operation;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The control plane's part for datacenters: they join, leave and are given up. Used by the control
 * plane's thread.
 */
final class MemberPlane {
  private static final Logger LOG = LoggerFactory.getLogger(MemberPlane.class);

  /** So long one that has left is still a peer. */
  static final long FAREWELL_MILLIS = 3_000;

  /** After that one that has left goes, whoever has not heard of it. */
  private static final long GONE_MILLIS = 30_000;

  private final String dc;
  private final SortedMap<String, Optional<String>> configured;
  private final ControlObjects objects;
  private final LongSupplier millis;
  private final ControlHost host;

  /** As {@code _osier} says. */
  private Membership told = Membership.NOTHING;

  /** The same with what this datacenter's file knows besides. */
  private Membership membership = Membership.NOTHING;

  /** What the host was told last. */
  private Optional<ControlHost.Peers> applied = Optional.empty();

  /** By membership, when this one heard that it has ended. */
  private final Map<String, Long> leftMillis = new HashMap<>();

  /** The membership in which this process has begun to give away what it has. */
  private Optional<String> givenAway = Optional.empty();

  private final Departures departures;

  /** By name, the version of the peer protocol that datacenters have said that they speak. */
  private SortedMap<String, Integer> protocols = new TreeMap<>();

  /** By name, how the ports for clients are reached, as datacenters have said. */
  private SortedMap<String, String> clients = new TreeMap<>();

  /** See {@link #isSteady}. */
  private boolean steady;

  private boolean ended;

  /**
   * @param configured the addresses of all datacenters that the configuration file names, by name;
   *     this one's own is not known
   */
  MemberPlane(
      String dc,
      SortedMap<String, Optional<String>> configured,
      ControlObjects objects,
      LongSupplier millis,
      ControlHost host) {
    this.dc = dc;
    this.configured = new TreeMap<>(configured);
    this.objects = objects;
    this.millis = millis;
    this.host = host;
    this.departures = new Departures(dc, host);
  }

  /**
   * Takes what the store knew when this datacenter ended.
   *
   * @throws OsierException CONFIGURATION if it is none of the datacenters any more
   */
  void recover(Reading.Fields object) {
    take(object);
    Optional<Member> self = membership.find(dc).filter(m -> !m.isPresent());
    if (self.isPresent()) {
      throw new OsierException(ErrorCode.CONFIGURATION, gone(self.get()));
    }
    follow();
  }

  private static String gone(Member self) {
    return "datacenter '"
        + self.name()
        + "' is none of the cluster any more ("
        + self.state().label()
        + ", by "
        + self.by()
        + "): what it stores is out of date. To join again: 'osier rebuild' here, 'osier cli dc add"
        + " "
        + self.name()
        + " ADDRESS' at another datacenter, and start it";
  }

  void take(Reading.Fields object) {
    told = Membership.of(object);
    membership = told.isInForce() && isFromFile() ? told.with(configured) : told;
    protocols = Membership.protocols(object);
    clients = Membership.clients(object);
    host.setProtocols(protocols);
    host.setClients(clients);
    steady =
        !membership.isInForce()
            || membership.all().values().stream().allMatch(m -> m.state() == Member.State.ACTIVE);
  }

  /** Whether its file counts: who was added is told by others whom there are. */
  private boolean isFromFile() {
    return told.find(dc).map(m -> m.id().equals(Membership.FROM_FILE)).orElse(true);
  }

  /** This datacenter's name. */
  String self() {
    return dc;
  }

  /** The names of those that replicate, this one's among them. */
  Set<String> names() {
    Set<String> names = new TreeSet<>(configured.keySet());
    if (membership.isInForce()) {
      names.clear();
      membership.present().forEach(m -> names.add(m.name()));
      names.add(dc);
    }
    return names;
  }

  /** Those that must know a keyspace before it takes updates. */
  List<String> awaited() {
    return membership.isInForce() ? membership.active() : List.copyOf(configured.keySet());
  }

  /** Of those the ones that do not leave. */
  List<String> staying() {
    return awaited().stream().filter(name -> !membership.leaves(name)).toList();
  }

  /** Whether a datacenter has noted that it takes no updates any more, as it leaves. */
  boolean isQuiet(String name) {
    return membership.find(name).filter(m -> m.has(Member.Step.QUIET, m)).isPresent();
  }

  /** Who must open a keyspace before it takes updates: of its members those that are there. */
  List<String> awaited(KeyspaceDefinition keyspace) {
    return keyspace.awaited().stream().filter(names()::contains).toList();
  }

  /** Whether this datacenter has what the others have, and stays. */
  boolean isActive() {
    return membership
        .find(dc)
        .map(
            m ->
                m.state() == Member.State.ACTIVE
                    || (m.state() == Member.State.LEAVING && !membership.leaves(dc)))
        .orElse(true);
  }

  /** Whether all datacenters stay what they are until somebody changes that. */
  boolean isSteady() {
    return steady && hasIntroducedItself();
  }

  private boolean hasIntroducedItself() {
    return protocols.getOrDefault(dc, 0) == host.protocol(dc)
        && clients.getOrDefault(dc, "").equals(host.clients());
  }

  // ---------------------------------------------------------------- what follows

  /** Replicates with whom it should. */
  void follow() {
    if (!membership.isInForce() || membership.find(dc).isEmpty()) {
      return; // the configuration counts
    }
    SortedMap<String, ControlHost.Peer> peers = new TreeMap<>();
    Set<String> gone = new TreeSet<>();
    Set<String> sharers = new TreeSet<>(Set.of(dc));
    for (Member m : membership.all().values()) {
      if (departures.shares(membership, m)) {
        sharers.add(m.name());
      }
      if (!m.isPresent()) {
        gone.add(m.name());
      }
    }
    for (Member m : present()) {
      Optional<String> address = configured.getOrDefault(m.name(), Optional.empty());
      // Who leaves waits for nobody that joins: it may never come, and has the others.
      boolean isWaitedFor = m.state() != Member.State.JOINING || !goes();
      if (!m.name().equals(dc) && isWaitedFor) {
        address
            .or(m::address)
            .ifPresent(a -> peers.put(m.name(), new ControlHost.Peer(a, m.goneMillis() + 1)));
      }
    }
    int rank = membership.find(dc).map(Member::rank).orElse(0);
    boolean joins = membership.find(dc).filter(m -> m.state() == Member.State.JOINING).isPresent();
    ControlHost.Peers wanted = new ControlHost.Peers(peers, gone, sharers, joins, rank);
    if (applied.isEmpty() || !applied.get().equals(wanted)) {
      host.setPeers(wanted);
      applied = Optional.of(wanted);
    }
  }

  /**
   * Those with whom this one replicates: one that has left for a moment more, so that it hears that
   * everybody knows.
   */
  private List<Member> present() {
    List<Member> present = new ArrayList<>();
    for (Member m : membership.all().values()) {
      boolean isNew =
          m.state() == Member.State.LEFT
              && millis.getAsLong() - leftSinceMillis(m) < FAREWELL_MILLIS;
      if (m.isPresent() || isNew) {
        present.add(m);
      }
    }
    return present;
  }

  /** When this one heard that a membership has ended; all that the files name have one id. */
  private long leftSinceMillis(Member m) {
    return leftMillis.computeIfAbsent(m.name() + " " + m.id(), id -> millis.getAsLong());
  }

  /**
   * Tells the others what has become of this one, and goes when it is to.
   *
   * @param missing keyspaces that should be here and are not, so that this one cannot have what the
   *     others have
   * @param needing keyspaces for which this one may not leave
   */
  void tell(List<String> missing, List<String> needing) {
    List<Operation> operations = new ArrayList<>();
    if (!hasIntroducedItself()) {
      operations.add(Membership.introduction(dc, host.protocol(dc), host.clients()));
    }
    if (membership.isInForce()) {
      tell(missing, needing, operations);
    } else {
      host.hinders(List.of());
    }
    objects.tell(Membership.OBJECT, operations, "what has become of this datacenter");
  }

  private void tell(List<String> missing, List<String> needing, List<Operation> operations) {
    if (isFromFile()) {
      operations.addAll(told.initial(told.unknown(configured)));
    }
    for (Member m : told.present()) {
      if (m.address().isEmpty()) {
        configured
            .getOrDefault(m.name(), Optional.empty())
            .ifPresent(a -> operations.add(Membership.address(m.name(), a)));
      }
    }
    membership.find(dc).ifPresent(self -> tell(self, missing, needing, operations));
  }

  private void tell(
      Member self, List<String> missing, List<String> needing, List<Operation> operations) {
    if (givenAway.isPresent() && !givenAway.get().equals(self.id())) {
      end(self); // it was added again, and others may know what it does not
      return;
    }
    List<String> hinders = new ArrayList<>();
    if (!isActive()) {
      hinders.add("datacenter '" + dc + "' is " + self.state().label());
      hinders.addAll(host.progress());
      missing.forEach(k -> hinders.add("keyspace '" + k + "' cannot be opened; the log says why"));
      if (goes()) {
        needing.forEach(
            k ->
                hinders.add(
                    "keyspace '"
                        + k
                        + "' would be lost: nobody else holds it that stays, or a holder that gives"
                        + " it up may still give this one its rights (keyspace list, keyspace"
                        + " alter)"));
      }
    }
    host.hinders(hinders);
    if (self.isPresent() && missing.isEmpty()) {
      operations.addAll(departures.step(membership, self, applied.isPresent(), this::follow));
    }
    switch (self.state()) {
      case JOINING -> {
        boolean whole = missing.isEmpty() && host.isComplete();
        if (whole && departures.areAgreed(membership, self)) {
          LOG.info("this datacenter has what all others have, and is active");
          operations.add(Membership.mark(self, Member.State.ACTIVE));
        }
      }
      case ACTIVE -> {}
      case LEAVING -> {
        if (membership.leaves(dc) && !heirs().isEmpty() && needing.isEmpty()) {
          leave(self, operations);
        }
      }
      case LEFT -> {
        if (host.isShipped() || millis.getAsLong() - leftSinceMillis(self) > GONE_MILLIS) {
          end(self);
        }
      }
      case REMOVED -> end(self);
    }
  }

  private void leave(Member self, List<Operation> operations) {
    if (!self.has(Member.Step.QUIET, self)) {
      if (departures.hasInherited(membership) && host.isQuiet()) {
        operations.add(Membership.note(self, Member.Step.QUIET, self));
      }
    } else if (host.isQuiet() && Departures.haveAll(membership, self, Member.Step.AGREED)) {
      givenAway = Optional.of(self.id());
      if (host.leave(heirs())) {
        operations.add(
            Membership.mark(self, Member.State.LEFT, dc, millis.getAsLong(), host.incarnation(dc)));
      }
    }
  }

  /** Whether this datacenter leaves, or has left. */
  boolean goes() {
    return membership.leaves(dc)
        || membership.find(dc).filter(m -> m.state() == Member.State.LEFT).isPresent();
  }

  /** Who may get the rights of one that leaves: those that stay. */
  private List<String> heirs() {
    return membership.present().stream()
        .filter(m -> !m.name().equals(dc) && !membership.leaves(m.name()))
        .filter(m -> m.state() != Member.State.JOINING)
        .map(Member::name)
        .toList();
  }

  private void end(Member self) {
    if (!ended) {
      ended = true;
      host.end(gone(self));
    }
  }

  /** A keyspace has other holders: rights of one that was given up may fall to another one. */
  void holdersChanged() {
    departures.lookAgain();
  }

  /** From now on {@code _osier} counts. */
  void begin() {
    if (!membership.isInForce()) {
      objects.change(Membership.OBJECT, membership.initial(configured));
      objects.map(Membership.OBJECT).ifPresent(this::take);
    }
  }

  /** What holds now, with what this datacenter's file knows besides. */
  Membership membership() {
    return membership;
  }

  /** Rights of one that was given up for which others are still waited for. */
  List<String> awaitedFor(Member removed) {
    return departures.awaitedFor(membership, removed);
  }
}
