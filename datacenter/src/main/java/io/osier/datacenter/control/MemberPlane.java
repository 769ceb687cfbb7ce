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
 * The control plane's part for datacenters: they join, leave and are removed. Used by the control
 * plane's thread.
 */
final class MemberPlane {
  private static final Logger LOG = LoggerFactory.getLogger(MemberPlane.class);

  /** How long a datacenter that has left is still a peer. */
  static final long FAREWELL_MILLIS = 3_000;

  /** After this time a datacenter that has left ends, whoever has not heard of it. */
  private static final long GONE_MILLIS = 30_000;

  private final String dc;
  private final SortedMap<String, Optional<String>> configured;
  private final ControlObjects objects;
  private final LongSupplier millis;
  private final ControlHost host;

  /** The membership in {@code _osier}. */
  private Membership told = Membership.NOTHING;

  /** The same with the datacenters that only this datacenter's file names. */
  private Membership membership = Membership.NOTHING;

  /** The peers that the host was told last. */
  private Optional<ControlHost.Peers> applied = Optional.empty();

  /** When this datacenter heard that a membership has ended, by membership. */
  private final Map<String, Long> leftMillis = new HashMap<>();

  /** The id of the membership in which this process has begun to give its rights away. */
  private Optional<String> givenAway = Optional.empty();

  private final Departures departures;

  /** The version of the peer protocol that each datacenter says it speaks, by name. */
  private SortedMap<String, Integer> protocols = new TreeMap<>();

  /** The address of the port for clients that each datacenter has announced, by name. */
  private SortedMap<String, String> clients = new TreeMap<>();

  /** See {@link #isSteady}. */
  private boolean steady;

  private boolean ended;

  /**
   * @param configured the addresses of all datacenters that the configuration file names, by name;
   *     empty for this one
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
   * Takes the membership that the store has, at the start.
   *
   * @throws OsierException CONFIGURATION if this datacenter is no longer a member
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
    return ("datacenter '%1$s' is no member of the cluster any more (%2$s, by %3$s): what it"
            + " stores is out of date. To join again: 'osier rebuild' here, 'osier cli dc add %1$s"
            + " ADDRESS' at another datacenter, and start it")
        .formatted(self.name(), self.state().label(), self.by());
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

  /**
   * Returns whether the configuration file counts for this datacenter; if it was added at run time,
   * {@code _osier} counts.
   */
  private boolean isFromFile() {
    return told.find(dc).map(m -> m.id().equals(Membership.FROM_FILE)).orElse(true);
  }

  /** Returns this datacenter's name. */
  String self() {
    return dc;
  }

  /** Returns the names of the datacenters that replicate, this one included. */
  Set<String> names() {
    Set<String> names = new TreeSet<>(configured.keySet());
    if (membership.isInForce()) {
      names.clear();
      membership.present().forEach(m -> names.add(m.name()));
      names.add(dc);
    }
    return names;
  }

  /** Returns the datacenters that must know a keyspace before it takes updates. */
  List<String> awaited() {
    return membership.isInForce() ? membership.active() : List.copyOf(configured.keySet());
  }

  /** Returns those of them that do not leave. */
  List<String> staying() {
    return awaited().stream().filter(name -> !membership.leaves(name)).toList();
  }

  /** Returns whether a datacenter that leaves has noted that it takes no more updates. */
  boolean isQuiet(String name) {
    return membership.find(name).filter(m -> m.has(Member.Step.QUIET, m)).isPresent();
  }

  /**
   * Returns the datacenters that must open a keyspace before it takes updates: its present members.
   */
  List<String> awaited(KeyspaceDefinition keyspace) {
    return keyspace.awaited().stream().filter(names()::contains).toList();
  }

  /** Returns whether this datacenter has the data of the others, and stays. */
  boolean isActive() {
    return membership
        .find(dc)
        .map(
            m ->
                m.state() == Member.State.ACTIVE
                    || (m.state() == Member.State.LEAVING && !membership.leaves(dc)))
        .orElse(true);
  }

  /** Returns whether no datacenter joins or leaves, and this one has introduced itself. */
  boolean isSteady() {
    return steady && hasIntroducedItself();
  }

  private boolean hasIntroducedItself() {
    return protocols.getOrDefault(dc, 0) == host.protocol(dc)
        && clients.getOrDefault(dc, "").equals(host.clients());
  }

  // ---------------------------------------------------------------- what follows

  /** Tells the host with which datacenters it replicates. */
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
      // A datacenter that leaves waits for none that joins: that may never come, and catches up
      // with the others.
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
   * Returns the datacenters with which this one replicates; one that has left for a moment more, so
   * that it hears that everybody knows.
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

  /**
   * Returns when this datacenter heard that a membership has ended; the files' datacenters all have
   * one id.
   */
  private long leftSinceMillis(Member m) {
    return leftMillis.computeIfAbsent(m.name() + " " + m.id(), id -> millis.getAsLong());
  }

  /**
   * Tells the others how far this datacenter has come with joining or leaving, and ends it when it
   * has left.
   *
   * @param missing keyspaces that should be open here and are not, so that this datacenter cannot
   *     have all data
   * @param needing keyspaces that keep this datacenter from leaving
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
    objects.tell(Membership.OBJECT, operations, "this datacenter's state");
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
      end(self); // it was added again; others may know more than it does
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
                    ("keyspace '%s' would be lost: nobody else holds it that stays, or a"
                            + " holder that gives it up may still give this one its rights"
                            + " (keyspace list, keyspace alter)")
                        .formatted(k)));
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
          LOG.info("this datacenter has caught up with all others and is active now");
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

  /** Returns whether this datacenter is leaving, or has left. */
  boolean goes() {
    return membership.leaves(dc)
        || membership.find(dc).filter(m -> m.state() == Member.State.LEFT).isPresent();
  }

  /** Returns the datacenters that may get the rights of one that leaves: those that stay. */
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

  /** A keyspace has other holders: another one may now get rights of a removed datacenter. */
  void holdersChanged() {
    departures.lookAgain();
  }

  /** Makes {@code _osier} count from now on. */
  void begin() {
    if (!membership.isInForce()) {
      objects.change(Membership.OBJECT, membership.initial(configured));
      objects.map(Membership.OBJECT).ifPresent(this::take);
    }
  }

  /**
   * Returns the present membership, with the datacenters that only this datacenter's file names.
   */
  Membership membership() {
    return membership;
  }

  /** Returns the datacenters that still keep a removed one's rights from being taken over. */
  List<String> awaitedFor(Member removed) {
    return departures.awaitedFor(membership, removed);
  }
}
