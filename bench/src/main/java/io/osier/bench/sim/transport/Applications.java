package io.osier.bench.sim.transport;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static io.osier.bench.sim.world.Scheduler.SECOND;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.world.Scheduler;
import io.osier.bench.sim.world.Trace;
import io.osier.core.ReplicaId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Applications and the ports of datacenters, whose processes crash, stop and start again. */
final class Applications implements Half {
  private static final int PORTS = 2;
  private static final int APPS = 2;

  private final AppWorld world;
  private final Random random;
  private final Map<String, AppPort> ports = new LinkedHashMap<>();
  private final List<AppWay> ways = new ArrayList<>();

  Applications(Scheduler scheduler, Trace trace, Sabotage sabotage, Random random) {
    this.random = random;
    List<String> apps = IntStream.range(0, APPS).mapToObj(i -> "app " + i).toList();
    this.world = new AppWorld(scheduler, trace, sabotage, apps, random);
    for (int i = 0; i < PORTS; i++) {
      start(new ReplicaId("dc" + i, 1));
    }
    for (String dc : ports.keySet()) {
      apps.forEach(app -> addWay(app, dc, null));
      if (world.hasUsers()) {
        SimUsers.Stranger[] all = SimUsers.Stranger.values();
        addWay("stranger", dc, all[random.nextInt(all.length)]);
      }
    }
  }

  private void addWay(String app, String dc, SimUsers.@Nullable Stranger as) {
    ways.add(new AppWay(world, app, dc, as, this::port, new Random(random.nextLong())));
  }

  private void start(ReplicaId as) {
    ports.put(as.dc(), new AppPort(world, as, new Random(random.nextLong())));
  }

  /** The port of the present process, or of the last one. */
  private AppPort port(String dc) {
    return requireNonNull(ports.get(dc), dc);
  }

  // ---------------------------------------------------------------- the run

  @Override
  public void start() {
    ways.forEach(AppWay::open);
  }

  /** A process crashes or stands still; what connections suffer is drawn with each request. */
  @Override
  public void fault(long duration) {
    String dc = "dc" + random.nextInt(PORTS);
    AppPort port = port(dc);
    if (port.sockets().isClosed()) {
      return;
    }
    if (random.nextBoolean()) {
      world.trace().note("%s crashes", port.self());
      port.crash();
      world.scheduler().in(duration, () -> start(new ReplicaId(dc, port.self().incarnation() + 1)));
    } else {
      world.trace().note("%s stands still", port.self());
      port.sockets().stop(true);
      world.scheduler().in(duration, () -> port.sockets().stop(false));
    }
  }

  @Override
  public void heal() {
    world.endFaults();
  }

  @Override
  public void check() {
    Map<AppWay, Long> before = new LinkedHashMap<>();
    ways.forEach(way -> before.put(way, way.answered()));
    ways.forEach(AppWay::ask);
    world.scheduler().runFor(5 * SECOND);
    before.forEach(AppWay::check);
    ways.forEach(AppWay::close);
    world.scheduler().runFor(SECOND + 10 * MILLI);
    ways.forEach(AppWay::ended);
  }

  @Override
  public long carried() {
    return ways.stream().mapToLong(AppWay::answered).sum();
  }

  @Override
  public long refused() {
    return ways.stream().mapToLong(AppWay::refused).sum();
  }

  @Override
  public String toString() {
    return "applications"
        + (world.isLarge() ? " with large values" : "")
        + (world.hasUsers() ? " that log in" : "");
  }
}
