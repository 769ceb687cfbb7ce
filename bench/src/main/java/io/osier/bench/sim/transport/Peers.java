package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Workload;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.Trace;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Datacenters that send each other frames over production's transport, on links that are cut, hang,
 * get narrow and are not read, while their processes crash, stop and are upgraded.
 */
final class Peers implements Half {
  private static final int LARGE_ONE_IN = 3;
  private static final int PACE_MILLIS_MAX = 300;

  /** One of so many times several frames leave at once, as when a round ends. */
  private static final int BURST_ONE_IN = 40;

  private static final int BURST_MIN = 2;
  private static final int BURST_MAX = 70;
  private static final int SQUEEZED_BYTES_MIN = 1_000;
  private static final int SQUEEZED_BYTES_MAX = 5_000;

  private final Scheduler scheduler;
  private final Trace trace;
  private final Random random;

  /** Draws how many frames leave at once. */
  private final Random bursts;

  private final boolean isLarge;
  private final SimNetwork network;
  private final DrawnFrames frames;
  private final List<String> names = new ArrayList<>();
  private final Map<String, PeerProcess> processes = new LinkedHashMap<>();

  /** By link. */
  private final Map<SimLink, SentFrames> sent = new HashMap<>();

  private boolean isLoading = true;

  Peers(Scheduler scheduler, Trace trace, Sabotage sabotage, Random random) {
    this.scheduler = scheduler;
    this.trace = trace;
    this.random = random;
    this.isLarge = random.nextInt(LARGE_ONE_IN) == 0;
    long framesSeed = random.nextLong();
    this.frames = new DrawnFrames(new Random(framesSeed), isLarge);
    this.bursts = new Random(~framesSeed);
    this.network =
        new SimNetwork(
            scheduler,
            trace,
            to -> processes.containsKey(to) ? process(to).sockets() : null,
            sabotage,
            new Random(random.nextLong()),
            isLarge ? Workload.Sizes.HUGE : Workload.Sizes.SMALL);
    int count = 2 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      names.add("dc" + i);
    }
    for (String from : names) {
      for (String to : names) {
        if (!from.equals(to)) {
          network.addLink(from, to);
          sent.put(network.link(from, to), new SentFrames(from + ">" + to));
        }
      }
    }
  }

  // ---------------------------------------------------------------- what its parts ask for

  Scheduler scheduler() {
    return scheduler;
  }

  Trace trace() {
    return trace;
  }

  SimNetwork network() {
    return network;
  }

  DrawnFrames frames() {
    return frames;
  }

  /** All datacenters. */
  List<String> names() {
    return names;
  }

  /** The present one of a datacenter, or its last one. */
  PeerProcess process(String dc) {
    return requireNonNull(processes.get(dc), dc);
  }

  SentFrames sent(String from, String to) {
    return requireNonNull(sent.get(network.link(from, to)), "a link of this run");
  }

  // ---------------------------------------------------------------- the run

  @Override
  public void start() {
    for (String dc : names) {
      processes.put(dc, new PeerProcess(this, new ReplicaId(dc, 1), List.of(), random));
    }
    processes.values().forEach(PeerProcess::dial);
    network.links().forEach(this::sendAgain);
  }

  private void sendAgain(SimLink link) {
    if (isLoading) {
      boolean isBurst = bursts.nextInt(BURST_ONE_IN) == 0;
      int count = isBurst ? bursts.nextInt(BURST_MIN, BURST_MAX + 1) : 1;
      process(link.from).send(link.to, count);
      scheduler.in(random.nextInt(PACE_MILLIS_MAX) * MILLI, () -> sendAgain(link));
    }
  }

  @Override
  public void fault(long duration) {
    SimLink link = network.links().get(random.nextInt(network.links().size()));
    PeerProcess process = process(names.get(random.nextInt(names.size())));
    int kind = random.nextInt(7);
    trace.note("fault %d for %d ms: %s, %s", kind, duration / MILLI, link, process);
    switch (kind) {
      case 0 -> network.flap(link);
      case 1 -> {
        network.cut(link);
        scheduler.in(duration, () -> network.heal(link));
      }
      case 2 -> {
        link.hang(true);
        scheduler.in(duration, () -> link.hang(false));
      }
      case 3 -> {
        network.deafen(link, true);
        scheduler.in(duration, () -> network.deafen(link, false));
      }
      case 4 -> {
        link.squeeze(SQUEEZED_BYTES_MIN + random.nextInt(SQUEEZED_BYTES_MAX));
        scheduler.in(duration, () -> link.squeeze(0));
      }
      case 5 -> {
        process.stop(true);
        scheduler.in(duration, () -> process.stop(false));
      }
      default -> crash(process, duration);
    }
  }

  private void crash(PeerProcess process, long duration) {
    if (process.sockets().isClosed()) {
      return;
    }
    network.crashed(process.sockets());
    String dc = process.self().dc();
    for (String peer : names) {
      if (!peer.equals(dc)) {
        sent(dc, peer).mayBeLost();
        sent(peer, dc).mayBeLost();
      }
    }
    boolean forgets = random.nextBoolean();
    scheduler.in(
        duration,
        () -> {
          PeerProcess next = process.next(forgets, random);
          processes.put(dc, next);
          next.dial();
        });
  }

  @Override
  public void heal() {
    isLoading = false;
  }

  @Override
  public void check() {
    network.links().forEach(link -> process(link.from).checkUp(link.to));
    network.links().forEach(link -> process(link.from).send(link.to, 1));
    scheduler.runFor(10 * SECOND);
    sent.values().forEach(SentFrames::check);
  }

  @Override
  public long carried() {
    return sent.values().stream().mapToLong(SentFrames::came).sum();
  }

  @Override
  public long carriedTogether() {
    return sent.values().stream().mapToLong(SentFrames::cameTogether).sum();
  }

  @Override
  public String toString() {
    return names.size() + " datacenters" + (isLarge ? " with large values" : "");
  }
}
