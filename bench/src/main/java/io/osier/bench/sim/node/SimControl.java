package io.osier.bench.sim.node;

import static io.osier.bench.sim.world.Scheduler.MILLI;
import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.PlacementRules;
import io.osier.datacenter.control.ControlPlane;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.control.execution.StartupWaitRule;
import io.osier.datacenter.shard.KeyspaceHolders;
import io.osier.propagation.host.PeersHeard;
import io.osier.propagation.net.PeerTransport;
import io.osier.protocol.AdminRequest.Administer;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs production's control plane in a datacenter, in runs in which holders change. The plane
 * decides by a copy of {@code _osier}, which joins the other datacenters' copies over the present
 * connections; its decisions are carried out on the datacenter's partitions.
 */
public final class SimControl extends StandingCluster {
  private static final long LOOK_NANOS = 100 * MILLI;

  /** At one look in so many it joins the copy of a datacenter that it is connected with. */
  private static final int HEARS_ONE_IN = 4;

  /** At one look in so many its copy is made durable. */
  private static final int SYNCED_ONE_IN = 3;

  private final Simulation simulation;
  private final SimDc dc;
  private final HeldUnits held;
  private final String name;
  private final ControlCopy copy;
  private final Random random;
  private final SimRemovals removals;
  private final SimDemand demand;

  // Of the present life.
  private @Nullable ControlPlane plane;
  private @Nullable StartupWaitRule waitRule;
  private boolean goesOn;
  private boolean knew;
  private boolean comparing;
  private boolean hindered;
  private Placement placement = Placement.NOTHING;

  /** The datacenters whose copies it has joined in this life. */
  private final Set<String> heard = new TreeSet<>();

  SimControl(Simulation simulation, SimDc dc, HeldUnits held) {
    this.simulation = simulation;
    this.dc = dc;
    this.held = held;
    this.name = dc.self().dc();
    this.removals = new SimRemovals(simulation, dc, held);
    this.demand =
        new SimDemand(
            simulation,
            name,
            keyspace -> held.of(keyspace).stream().map(SimNode::inspect).toList(),
            this::isReached,
            (keyspace, names) -> simulation.holders().laws().moved(dc, keyspace, names));
    this.copy = new ControlCopy(name, simulation::nextTicket, simulation.options().sabotage());
    this.random = new Random(simulation.profile().seed() * 31 + name.hashCode());
  }

  private Sabotage sabotage() {
    return simulation.options().sabotage();
  }

  private KeyspaceHolders holders() {
    return held.holders();
  }

  private ControlPlane plane() {
    return requireNonNull(plane, "it was started");
  }

  /** A new process begins, and opens the keyspaces that its store names. */
  void starts() {
    if (!simulation.profile().has(Feature.HOLDERS)) {
      simulation.units().stream()
          .filter(unit -> unit.partition() == 0 && unit.policy().heldBy(name))
          .forEach(unit -> held.open(unit.policy().name()));
      return;
    }
    boolean isFirst = dc.life() == 1;
    goesOn = isFirst || dc.keptAll();
    knew = isFirst || !copy.isEmpty();
    comparing = false;
    hindered = !isFirst;
    placement = Placement.NOTHING;
    heard.clear();
    removals.clear();
    SortedMap<String, Optional<String>> datacenters = new TreeMap<>();
    for (String n : simulation.names()) {
      datacenters.put(n, n.equals(name) ? Optional.empty() : Optional.of(n + ":1"));
    }
    Map<String, KeyspacePolicy> configured = new TreeMap<>();
    simulation.units().stream()
        .filter(unit -> !unit.hasHomes())
        .forEach(unit -> configured.put(unit.policy().name(), unit.policy()));
    if (isFirst && simulation.units().stream().anyMatch(Unit::hasHomes)) {
      copy.hear(CreatedKeyspaces.of(simulation));
      copy.sync();
    }
    demand.starts();
    plane =
        new ControlPlane(
            name,
            datacenters,
            configured,
            () -> dc.now().millis(),
            this,
            simulation.profile().placement(),
            demand);
    waitRule = new StartupWaitRule(simulation.scheduler().nanos(), StartupWaitRule.WAIT_NANOS);
    if (knew) {
      plane.recoverDatacenters(copy.fields(ControlPlane.DATACENTERS));
      plane.recover(copy.fields(ControlPlane.KEYSPACES));
    }
    plane.beginConfigured().forEach(policy -> held.open(policy.name()));
    lookLater(dc.goesOn());
  }

  /** The process has crashed. */
  void crash(boolean keepsAll) {
    copy.crash(keepsAll, dc.hasDisk());
  }

  /** Whether the plane has asked the partitions to compare themselves with their peers. */
  boolean isComparing() {
    return comparing;
  }

  private void lookLater(BooleanSupplier isSame) {
    simulation
        .scheduler()
        .in(
            LOOK_NANOS + dc.slowNanos(),
            () -> {
              if (isSame.getAsBoolean()) {
                hear();
                plane().look();
                if (plane().failedKeyspaces() > 0) {
                  throw new Violation("", "%s cannot make a keyspace what it should be", dc.self());
                }
                lookLater(isSame);
              }
            });
  }

  private void hear() {
    var told = demand.isFull() ? List.<SimDc>of() : simulation.dcs();
    for (SimDc other : told) {
      if (other != dc && isReached(other.self().dc()) && random.nextInt(HEARS_ONE_IN) == 0) {
        copy.hear(other.control().copy);
        heard.add(other.self().dc());
      }
    }
    if (random.nextInt(SYNCED_ONE_IN) == 0) {
      copy.sync();
    }
  }

  /**
   * An operator says who is to hold a keyspace, or what its laws are.
   *
   * @throws OsierException if that is refused
   */
  public void alter(String keyspace, SortedMap<String, String> settings) {
    var unused = plane().administer(new Administer("keyspace", "alter", keyspace, settings), "op");
  }

  // ---------------------------------------------------------------- what others see of it

  /** The datacenters that serve a keyspace, as far as this one knows. */
  public List<String> serving(KeyspacePolicy policy) {
    return placement
        .find(policy.name())
        .map(Placement.Placed::holders)
        .orElseGet(() -> simulation.names().stream().filter(policy::heldBy).toList());
  }

  /** The placement rules of a keyspace, as far as this datacenter has heard of them. */
  public PlacementRules rules(String keyspace) {
    return copy.rules(keyspace);
  }

  /** Whether a keyspace follows its load, so that clients are told that it is held here. */
  public boolean follows(KeyspacePolicy policy) {
    return placement
        .find(policy.name())
        .filter(placed -> placed.policy().rules().counts())
        .isPresent();
  }

  /** Counts what the datacenter's clients ask. */
  public SimDemand demand() {
    return demand;
  }

  /** Whether it does not know yet who holds which keyspace; until then it serves nothing. */
  boolean isUnsure() {
    return hindered && !knew;
  }

  /** The holders of a keyspace; empty while a change of them is under way here. */
  public Optional<List<String>> settled(Unit unit) {
    String keyspace = unit.policy().name();
    List<String> all = simulation.names().stream().filter(held.policy(unit)::heldBy).toList();
    boolean isOpen = held.find(unit) != null;
    return Optional.of(serving(unit.policy()))
        .filter(
            holders ->
                holders.contains(name) == isOpen
                    && (!isOpen || (holders.equals(all) && held.isServed(unit)))
                    && !removals.isUnderWay(keyspace));
  }

  /** Whether it takes no updates yet, because it has just started. */
  boolean isHindered() {
    return hindered;
  }

  // ---------------------------------------------------------------- what its plane asks

  @Override
  public Reply ask(Request request, int timeoutMillis) {
    return copy.ask(request);
  }

  @Override
  public OptionalLong recorded() {
    return OptionalLong.of(copy.recorded());
  }

  @Override
  public long incarnation(String of) {
    return simulation.dc(of).self().incarnation();
  }

  @Override
  public boolean isSettled() {
    return goesOn || heard.size() == simulation.names().size() - 1;
  }

  /** One that has lost {@code _osier} waits for all others, since its file is out of date. */
  @Override
  public boolean mayBegin() {
    boolean fromAll = heard.size() == simulation.names().size() - 1;
    PeersHeard from = heard.isEmpty() ? PeersHeard.NOBODY : PeersHeard.SOME;
    return dc.life() == 1
        || (knew
            ? requireNonNull(waitRule, "it was started")
                .isOver(fromAll ? PeersHeard.ALL : from, false, simulation.scheduler().nanos())
            : fromAll);
  }

  @Override
  public boolean isComplete() {
    return dc.isComplete();
  }

  @Override
  public boolean isShipped() {
    return simulation.dcs().stream().allMatch(d -> d == dc || d.control().copy.hasAllOf(copy));
  }

  @Override
  public boolean isConnected(String of) {
    return sabotage().takesForReachable() || isReached(of);
  }

  /** Whether there is a connection to another datacenter. */
  public boolean isReached(String of) {
    PeerTransport transport = dc.transport();
    return transport != null && transport.isConnected(of);
  }

  @Override
  public int protocol(String of) {
    return simulation.dc(of).version();
  }

  @Override
  public boolean isWhole(String keyspace) {
    return sabotage().hurriesRemovals() || dc.isWhole(keyspace);
  }

  // ---------------------------------------------------------------- what it decides

  @Override
  public void setPeers(Peers peers) {
    comparing = true;
    dc.compareAnew();
  }

  @Override
  public void compareAnew() {
    dc.compareAnew();
  }

  @Override
  public void setPlacement(Placement now) {
    List<Boolean> before = followed();
    placement = now;
    if (!followed().equals(before)) {
      dc.keyspacesChanged();
    }
  }

  private List<Boolean> followed() {
    return simulation.units().stream().map(unit -> follows(unit.policy())).toList();
  }

  @Override
  public void hinders(List<String> words) {
    if (isUnsure() && words.isEmpty()) {
      dc.waits();
    }
    hindered = !words.isEmpty();
  }

  @Override
  public void setHolders(String keyspace, Holding now) {
    simulation.trace().note("%s hears who holds %s: %s", dc.self(), keyspace, now);
    holders().set(keyspace, now);
    if (now.part() == Part.SERVES && now.holders().contains(name)) {
      simulation.holders().laws().serves(keyspace, name);
    }
    dc.holdersChanged();
  }

  @Override
  public void open(KeyspacePolicy policy, String created, boolean first, List<String> awaited) {
    openConfigured(policy);
  }

  @Override
  public void openConfigured(KeyspacePolicy policy) {
    simulation.holders().laws().opens(policy.name(), name); // the plane counts what is thrown
    held.open(policy.name());
    dc.holdersChanged();
  }

  @Override
  public boolean cease(String keyspace) {
    return removals.cease(keyspace);
  }

  @Override
  public void resume(String keyspace) {
    removals.resume(keyspace);
  }

  @Override
  public boolean giveAway(String keyspace, List<String> heirs) {
    boolean isDone = removals.giveAway(keyspace, heirs);
    if (isDone) {
      simulation.holders().laws().goes(keyspace, name);
    }
    return isDone;
  }

  @Override
  public void drop(String keyspace, String created) {
    simulation.trace().note("%s drops what it has of %s", dc.self(), keyspace);
    removals.forget(keyspace);
    holders().forget(keyspace);
    held.drop(keyspace);
    dc.keyspacesChanged();
  }

  @Override
  public void dropOthers(Map<String, String> creations) {
    simulation.units().stream().filter(unit -> held.find(unit) == null).forEach(dc.disk()::drop);
  }
}
