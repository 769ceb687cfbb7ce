package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.RunProfile;
import io.osier.bench.sim.world.SimSockets;
import io.osier.bench.sim.world.Violation;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.ProcessIdentity;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Connects a datacenter to the others: runs production's {@code PeerTransport} over the sockets of
 * the present process, and hands the frames that arrive to the partitions.
 */
final class DcTransport {
  /** One datacenter of so many begins with the former version of the program. */
  private static final int FORMER_OF = 3;

  private final Simulation simulation;
  private final SimDc dc;
  private final Random random;

  /** The number that each start has drawn, newest first; the datacenter's disk keeps them. */
  private final List<Long> starts = new ArrayList<>();

  /** Whether it runs a program that speaks only the oldest version of the peer protocol. */
  private boolean isFormer;

  private Set<String> peersNow = Set.of();

  // Null before the first start.
  private @Nullable SimSockets sockets;
  private @Nullable PeerTransport transport;

  DcTransport(Simulation simulation, SimDc dc, Random random) {
    this.simulation = simulation;
    this.dc = dc;
    this.random = random;
  }

  /** The transport; null before the first start, and while the datacenter starts. */
  @Nullable PeerTransport carries() {
    return transport;
  }

  /** The sockets of the present process; null before the first start. */
  @Nullable SimSockets sockets() {
    return sockets;
  }

  /** Whether another datacenter is a peer, so that its frames are taken. */
  boolean isPeer(String of) {
    return peersNow.contains(of);
  }

  /** Replaces the peers. */
  void setPeers(List<String> peers) {
    requireNonNull(transport, "it is up").setPeers(addresses(peers));
  }

  /** A new process begins, which has no connections yet. */
  void starts() {
    transport = null;
  }

  /** Lets the new process dial its peers. */
  void connect() {
    Map<String, InetSocketAddress> addresses =
        addresses(simulation.members().peersOf(dc.self().dc()));
    starts.addFirst(random.nextLong(Long.MAX_VALUE - 1) + 1);
    SimSockets own =
        new SimSockets(
            simulation.network(),
            simulation.scheduler(),
            dc.self(),
            dc::slowNanos,
            new Random(random.nextLong()));
    sockets = own;
    PeerTransport carries =
        new PeerTransport(
            new ProcessIdentity(
                dc.self(),
                "sim",
                starts.getFirst(),
                starts.subList(1, starts.size()),
                newestVersion()),
            address(dc.self().dc()),
            addresses,
            peer -> fingerprints(peer),
            PortLimits.DEFAULT,
            new Peers(own),
            Optional.empty(),
            own);
    transport = carries;
    carries.dial();
  }

  /** The newest version of the peer protocol that the present program speaks. */
  int version() {
    return isFormer ? PeerVersions.OLDEST : PeerVersions.NEWEST;
  }

  private int newestVersion() {
    isFormer = dc.life() == 1 ? random.nextInt(FORMER_OF) == 0 : isFormer && random.nextBoolean();
    // Former programs forward nothing: they take part in few of the runs in which others do.
    isFormer &=
        !simulation.profile().has(Feature.HOLDERS)
            || simulation.profile().seed() % RunProfile.FORMER_ONE_IN == 0;
    return version();
  }

  private List<String> fingerprints(String peer) {
    HeldUnits held = dc.held();
    return simulation.units().stream()
        .filter(dc::holds)
        .map(held::policy)
        .filter(policy -> policy.heldBy(peer))
        .map(policy -> held.holders().fingerprint(policy, Optional.empty(), peer))
        .distinct()
        .sorted()
        .toList();
  }

  /** Tells the peers that the datacenter holds other keyspaces than before. */
  void keyspacesChanged() {
    requireNonNull(transport, "it is up").keyspacesChanged();
  }

  private static InetSocketAddress address(String dc) {
    return InetSocketAddress.createUnresolved(dc, 1);
  }

  /** Hands what the transport hears to the partitions. What a check throws ends the run. */
  private final class Peers implements PeerListener {
    private final SimSockets of;

    Peers(SimSockets of) {
      this.of = of;
    }

    private void hears(Runnable what) {
      if (of.isClosed()) {
        return;
      }
      try {
        what.run();
      } catch (RuntimeException e) {
        simulation.scheduler().fail(e);
      }
    }

    @Override
    public void up(ReplicaId peer, List<String> keyspaces) {
      hears(
          () -> {
            simulation.network().isUp(dc.self().dc(), peer.dc(), true);
            dc.forwarding().forwarder().up(peer);
            dc.held().up(peer, keyspaces);
          });
    }

    @Override
    public void parted(String peer, List<String> keyspaces) {
      hears(
          () -> {
            keyspaces.forEach(keyspace -> checkParting(peer, keyspace));
            simulation.flow().parted(dc, peer, u -> keyspaces.contains(u.policy().name()));
            dc.held().submitTo(keyspaces, new Input.PeerDown(peer));
          });
    }

    private void checkParting(String peer, String keyspace) {
      if (!simulation.holders().hasChanged(keyspace)) {
        throw new Violation(
            keyspace, "%s parts with %s over it, which nobody changes", dc.self(), peer);
      }
    }

    @Override
    public void compared(String peer, Map<String, String> differing) {
      if (!simulation.holders().hasChanged() && !differing.isEmpty()) {
        simulation
            .scheduler()
            .fail(new Violation("", "%s and %s differ: %s", dc.self(), peer, differing));
      }
    }

    @Override
    public void down(String peer) {
      hears(
          () -> {
            simulation.network().isUp(dc.self().dc(), peer, false);
            simulation.flow().down(dc, peer);
            dc.forwarding().down(peer);
            dc.submitToAll(new Input.PeerDown(peer));
          });
    }

    @Override
    public void received(ReplicaId peer, String keyspace, int partition, Frame frame) {
      hears(
          () ->
              simulation.frames().received(dc, peer, simulation.unit(keyspace, partition), frame));
    }

    @Override
    public void asked(ReplicaId peer, byte[] content, Answers answers) {
      hears(() -> dc.forwarding().asked(peer, content, answers));
    }

    @Override
    public void answered(ReplicaId peer, byte[] content) {
      hears(() -> dc.forwarding().forwarder().answered(peer, content));
    }

    @Override
    public void receivedAll(ReplicaId peer) {
      hears(() -> dc.forwarding().askedAll(peer));
    }

    @Override
    public void second(String peer, String why) {
      boolean isOwnFormerLife =
          dc.self().incarnation() > 1 && why.contains("another process already runs as");
      if (!isOwnFormerLife) { // whose connection ends soon; rejected, if not
        simulation
            .scheduler()
            .fail(new Violation("", "%s is second to %s: %s", dc.self(), peer, why));
      }
    }

    @Override
    public void rejected(String peer, OsierException why) {
      if (!simulation.members().hasChanged()
          || !String.valueOf(why.reason()).contains("was not added")) {
        simulation.scheduler().fail(new Violation("", "%s refuses %s: %s", peer, dc.self(), why));
      }
    }
  }

  private Map<String, InetSocketAddress> addresses(List<String> peers) {
    Map<String, InetSocketAddress> addresses = new TreeMap<>();
    peers.forEach(peer -> addresses.put(peer, address(peer)));
    peersNow = Set.copyOf(peers);
    return addresses;
  }
}
