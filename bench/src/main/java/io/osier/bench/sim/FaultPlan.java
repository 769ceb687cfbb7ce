package io.osier.bench.sim;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.SimLink;
import io.osier.bench.sim.world.SimNetwork;
import io.osier.bench.sim.world.SimSockets;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Begins faults as the seed draws them, and ends them again. */
final class FaultPlan {
  private static final int FIRST_SECONDS_MAX = 25;
  private static final int PAUSE_SECONDS_MAX = 40;
  private static final int DURATION_MILLIS_MAX = 20_000;
  private static final int LONG_SECONDS_MAX = 120;
  private static final int LONG_OUTAGE_SECONDS_MIN = 3_600;

  /** One of so many crashes is that of two together. */
  private static final int CRASHES_OF_TWO = 4;

  private static final long STALL_MILLIS_MAX = 10_000;

  /** The bandwidth of a squeezed link in bytes a second: about what the load needs, or less. */
  private static final int SQUEEZED_BYTES_MIN = 500;

  private static final int SQUEEZED_BYTES_MAX = 5_000;

  private final Simulation simulation;
  private final SimNetwork network;
  private final Scheduler scheduler;
  private final Random random;
  private final List<Fault> faults;
  private final List<Runnable> ends = new ArrayList<>();

  FaultPlan(Simulation simulation, Random random, List<Fault> faults) {
    this.simulation = simulation;
    this.network = simulation.network();
    this.scheduler = simulation.scheduler();
    this.random = random;
    this.faults = faults;
  }

  void start() {
    if (!faults.isEmpty()) {
      scheduler.in((5 + random.nextInt(FIRST_SECONDS_MAX)) * SECOND, this::next);
    }
    if (simulation.profile().isLong()) {
      scheduler.in(random.nextInt(LONG_OUTAGE_SECONDS_MIN / 4) * SECOND, this::longOutage);
    }
  }

  /** A datacenter cannot be reached, or is down, for more than an hour while the others go on. */
  private void longOutage() {
    String dc = simulation.anyDc(random);
    long duration =
        (LONG_OUTAGE_SECONDS_MIN + random.nextInt(LONG_OUTAGE_SECONDS_MIN / 4)) * SECOND;
    if (faults.contains(Fault.CRASHES) && simulation.dc(dc).isUp() && random.nextBoolean()) {
      crash(dc, duration);
    } else {
      simulation.happens(Fault.PARTITIONS);
      cutAll(dc, duration);
    }
  }

  private void cutAll(String dc, long duration) {
    cut(
        "all of " + dc,
        network.links().stream().filter(l -> l.from.equals(dc) || l.to.equals(dc)).toList(),
        duration);
  }

  /** Ends all present faults. */
  void endAll() {
    List.copyOf(ends).forEach(Runnable::run);
  }

  private void next() {
    if (!simulation.isLoading()) {
      return;
    }
    scheduler.in((2 + random.nextInt(PAUSE_SECONDS_MAX)) * SECOND, this::next);
    begin(faults.get(random.nextInt(faults.size())));
  }

  private void during(String what, long durationNanos, Runnable end) {
    simulation.trace().note("fault begins for %d ms: %s", durationNanos / MILLI, what);
    Runnable once =
        new Runnable() {
          @Override
          public void run() {
            if (ends.remove(this)) {
              end.run();
              simulation.trace().note("fault ends: %s", what);
            }
          }
        };
    ends.add(once);
    scheduler.in(durationNanos, once);
  }

  private void begin(Fault fault) {
    long duration =
        random.nextInt(12) == 0
            ? (20 + random.nextInt(LONG_SECONDS_MAX)) * SECOND
            : (200 + random.nextInt(DURATION_MILLIS_MAX)) * MILLI;
    List<SimLink> links = network.links();
    SimLink link = links.get(random.nextInt(links.size()));
    String dc = simulation.anyDc(random);
    switch (fault) {
      case LOSS -> {
        simulation.happens(fault);
        link.setLoss(0.02 + random.nextDouble() * 0.3);
        during("loss " + link, duration, () -> link.setLoss(0));
      }
      case DUPLICATES -> {
        simulation.happens(fault);
        link.setDuplicates(0.3);
        during("duplicates " + link, duration, () -> link.setDuplicates(0));
      }
      case REORDER -> {
        simulation.happens(fault);
        link.reorder(true);
        during("reorder " + link, duration, () -> link.reorder(false));
      }
      case PARTITIONS -> partition(link, dc, duration);
      case CRASHES -> {
        if (random.nextInt(CRASHES_OF_TWO) == 0) {
          crashTogether(dc, simulation.anyDc(random), duration);
        } else {
          crash(dc, duration);
        }
      }
      case SLOW -> slow(link, dc, duration);
      case DISKS -> disk(dc, duration);
      case STALLS -> stall(dc, duration);
      case HANGS -> hang(link, dc, duration);
      case MEMBERS -> replace(dc);
      case LARGE -> {
        simulation.happens(fault);
        simulation.callers().setLarge(true);
        during("large values", duration, () -> simulation.callers().setLarge(false));
      }
      case CLOCKS -> {
        simulation.happens(fault);
        simulation.dc(dc).jump((random.nextInt(7_200) - 3_600) * 1_000L);
        simulation.dc(dc).drift((random.nextDouble() - 0.5) * 0.02);
        simulation.trace().note("the clock of %s jumps and drifts", dc);
      }
      case ANSWERS -> {} // goes on all the time
    }
  }

  private void partition(SimLink link, String dc, long duration) {
    simulation.happens(Fault.PARTITIONS);
    switch (random.nextInt(4)) {
      case 0 -> cut(link.toString(), List.of(link), duration);
      case 1 ->
          cut(
              link.from + "<>" + link.to,
              List.of(link, network.link(link.to, link.from)),
              duration);
      case 2 -> cutAll(dc, duration);
      default -> {
        simulation.trace().note("connection %s breaks", link);
        network.flap(link);
      }
    }
  }

  private void cut(String what, List<SimLink> links, long duration) {
    links.forEach(network::cut);
    during("cut " + what, duration, () -> links.forEach(network::heal));
  }

  private void slow(SimLink link, String dc, long duration) {
    long by = (20 + random.nextInt(1_000)) * MILLI;
    if (random.nextInt(3) == 0) {
      simulation.happens(Fault.SLOW);
      link.squeeze(SQUEEZED_BYTES_MIN + random.nextInt(SQUEEZED_BYTES_MAX));
      during("narrow link " + link, duration, () -> link.squeeze(0));
    } else if (random.nextBoolean()) {
      simulation.happens(Fault.SLOW);
      link.setExtraDelay(by);
      during("slow link " + link, duration, () -> link.setExtraDelay(0));
    } else if (simulation.dc(dc).isUp()) {
      simulation.happens(Fault.SLOW);
      simulation.dc(dc).slow(by);
      during("slow " + dc, duration, () -> simulation.dc(dc).slow(0));
    }
  }

  /** A link carries nothing, a peer reads nothing of one connection, or of all. */
  private void hang(SimLink link, String name, long duration) {
    SimDc dc = simulation.dc(name);
    switch (random.nextInt(3)) {
      case 0 -> {
        simulation.happens(Fault.HANGS);
        link.hang(true);
        during("hanging link " + link, duration, () -> link.hang(false));
      }
      case 1 -> {
        simulation.happens(Fault.HANGS);
        network.deafen(link, true);
        during("nothing is read of " + link, duration, () -> network.deafen(link, false));
      }
      default -> {
        if (dc.isUp()) {
          simulation.happens(Fault.HANGS);
          SimSockets process = requireNonNull(dc.sockets(), "it is up");
          process.stop(true);
          network.changed(name);
          during(
              "links of " + name + " stand still",
              duration,
              () -> {
                process.stop(false);
                network.changed(name);
              });
        }
      }
    }
  }

  private void disk(String name, long duration) {
    SimDc dc = simulation.dc(name);
    if (!dc.isUp() || !dc.hasDisk()) {
      return;
    }
    simulation.happens(Fault.DISKS);
    if (random.nextBoolean()) {
      dc.slowDisk((5 + random.nextInt(500)) * MILLI);
      during("slow disk " + name, duration, () -> dc.slowDisk(0));
    } else {
      dc.setFull(true);
      during("full disk " + name, duration, () -> dc.setFull(false));
    }
  }

  /** A disk stops, and sometimes what uses it crashes before it goes on. */
  private void stall(String name, long duration) {
    SimDc dc = simulation.dc(name);
    if (!dc.isUp() || !dc.hasDisk()) {
      return;
    }
    simulation.happens(Fault.STALLS);
    dc.stall(true);
    boolean crashes = faults.contains(Fault.CRASHES) && random.nextInt(3) == 0;
    long afterwards = (200 + random.nextInt(DURATION_MILLIS_MAX)) * MILLI;
    during(
        "stalled disk " + name,
        Math.min(duration, STALL_MILLIS_MAX * MILLI),
        () -> {
          if (crashes && simulation.isLoading()) {
            crash(name, afterwards);
          }
          dc.stall(false);
        });
  }

  /** One at a time: what two had shipped to each other alone would be lost. */
  private void replace(String name) {
    SimDc dc = simulation.dc(name);
    if (!dc.isUp()
        || simulation.upCount() < simulation.dcs().size()
        || simulation.members().isChanging()) {
      return;
    }
    simulation.happens(Fault.MEMBERS);
    Replacement replacement = new Replacement(simulation, dc);
    during("replacement of " + dc.self(), replacement.begin(random), replacement::end);
  }

  /**
   * One can reach nobody but the other for a while, and then both crash: what the first had shipped
   * to the other alone is lost, while others have what the other did after it.
   */
  private void crashTogether(String first, String other, long duration) {
    cut(
        "all of " + first + " but those with " + other,
        network.links().stream()
            .filter(l -> l.from.equals(first) || l.to.equals(first))
            .filter(l -> !l.from.equals(other) && !l.to.equals(other))
            .toList(),
        duration);
    scheduler.in(
        random.nextLong(duration),
        () -> {
          if (simulation.isLoading()) {
            crash(first, duration);
            crash(other, duration);
          }
        });
  }

  private void crash(String name, long duration) {
    SimDc dc = simulation.dc(name);
    if (!dc.isUp() || simulation.upCount() == 1) {
      return; // somebody must go on
    }
    simulation.happens(Fault.CRASHES);
    ReplicaId former = dc.self();
    simulation.crash(dc);
    during(
        "crash " + former,
        duration,
        () -> dc.start(dc.keptAll() ? former : new ReplicaId(name, former.incarnation() + 1)));
  }
}
