package io.osier.datacenter.control.execution;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.crdt.ObjectId;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.UserRecords;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.ControlLoop;
import io.osier.datacenter.control.ControlPlane;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.control.view.KeyspaceView;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.protocol.AdminRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Runs the control plane in its datacenter. {@link #administer} is for any thread. */
public final class Control implements AutoCloseable {
  private final Keyspaces keyspaces;
  private final Execution execution;
  private final LoadMeasures loads;
  private final ControlPlane plane;
  private volatile @Nullable ControlLoop loop;

  public Control(
      DatacenterConfig config,
      ReplicaId self,
      Keyspaces keyspaces,
      PeerLinks links,
      long startupWaitNanos,
      Runnable changed,
      List<User> configuredUsers,
      Consumer<Users> onUsers) {
    this.keyspaces = keyspaces;
    this.loads = new LoadMeasures(keyspaces);
    this.execution =
        new Execution(
            self,
            config.peers(),
            keyspaces,
            links,
            startupWaitNanos,
            changed,
            configuredUsers,
            onUsers);
    SortedMap<String, Optional<String>> datacenters = new TreeMap<>();
    config
        .peers()
        .forEach(
            (name, at) ->
                datacenters.put(
                    name, Optional.of(new HostPort(at.getHostString(), at.getPort()).toString())));
    datacenters.put(self.dc(), Optional.empty());
    Map<String, KeyspacePolicy> file = new TreeMap<>();
    Stream.of(config.keyspaces(), config.elsewhere(), config.withHomes())
        .flatMap(List::stream)
        .forEach(policy -> file.put(policy.name(), policy));
    this.plane =
        new ControlPlane(
            self.dc(),
            datacenters,
            file,
            System::currentTimeMillis,
            execution,
            config.placement(),
            loads);
  }

  /** Opens the keyspaces that the store has; before anything runs. */
  public void recover() {
    recovered(ControlPlane.DATACENTERS).ifPresent(plane::recoverDatacenters);
    Optional<Reading.Fields> known = recovered(ControlPlane.KEYSPACES);
    known.ifPresent(plane::recover);
    recovered(UserRecords.OBJECT).ifPresent(plane::recoverUsers);
    boolean goesOn = keyspaces.control().partitions().getFirst().isReady();
    execution.recovered(goesOn || known.isPresent());
  }

  private Optional<Reading.Fields> recovered(ObjectId object) {
    return keyspaces.recovered(object).map(state -> (Reading.Fields) state.read(new Query.Whole()));
  }

  /**
   * Returns the keyspaces of the configuration that must be open at the start, and counts them as
   * open; called after {@link #recover}.
   */
  public List<KeyspacePolicy> beginConfigured() {
    return plane.beginConfigured();
  }

  /** Starts to follow changes. The other datacenters are being dialled. */
  public void start() {
    execution.start();
    loop = new ControlLoop(plane);
  }

  /** Executes an operator's command; the result is one JSON object. */
  public CompletableFuture<String> administer(AdminRequest.Administer request, String by) {
    if (isGivingUp(request)) {
      keyspaces.giveUp(request.name());
    }
    boolean changes = !request.action().equals("list");
    if (changes
        && !keyspaces
            .second()
            .isEmpty()) { // the change would get numbers that the other process gives, too
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.REFUSED_BY_PEERS,
              "nothing was changed, since another process runs under this datacenter's name: "
                  + keyspaces.second()
                  + "; 'dc remove NAME --dead' removes one of these that has been silent for 10"
                  + " s"));
    }
    ControlLoop runs = loop;
    if (runs == null) {
      return CompletableFuture.failedFuture(
          new OsierException(ErrorCode.UNAVAILABLE, "the datacenter has just started"));
    }
    return switch (request.subject()) {
      case "user" -> runs.ask(p -> p.administerUsers(request, by)).thenApply(ControlJson::users);
      case "placement" -> runs.ask(ControlPlane::placements).thenApply(ControlJson::placements);
      case "dc" ->
          runs.ask(p -> p.administerDatacenters(request, by)).thenApply(ControlJson::datacenters);
      default ->
          runs.administer(request, by)
              .thenApply(
                  views ->
                      ControlJson.keyspaces(
                          views, changes ? withoutEffect(views, request) : missing()));
    };
  }

  /** Returns, in words, what an operator has given in vain. */
  private static List<String> withoutEffect(
      List<KeyspaceView> now, AdminRequest.Administer request) {
    return now.stream()
        .flatMap(
            view ->
                KeyspaceSettings.withoutEffect(view.settings(), request.settings().keySet())
                    .stream())
        .toList();
  }

  /** Returns, in words, which keyspaces of the file do not exist yet. */
  private List<String> missing() {
    return Stream.of(plane.awaitedKeyspaces(), plane.refusedKeyspaces())
        .flatMap(List::stream)
        .toList();
  }

  private static boolean isGivingUp(AdminRequest.Administer request) {
    return request.subject().equals("dc")
        && request.action().equals("remove")
        && "true".equals(request.settings().get("dead"));
  }

  /** Returns, in words, why this datacenter does not serve like the others. */
  public List<String> obstacles() {
    List<String> obstacles = new ArrayList<>(execution.obstacles());
    obstacles.addAll(plane.awaitedKeyspaces());
    return obstacles;
  }

  /**
   * Returns whether the keyspaces, users and datacenters are known, as far as other datacenters can
   * be asked. For any thread.
   */
  public boolean isKnown() {
    return execution.wait.isKnown();
  }

  /**
   * Returns, in words, why there may be more keyspaces than those that are known here; empty if
   * there are none. For any thread.
   */
  public Optional<String> unknownKeyspaces() {
    return Stream.of(
            isKnown() ? List.<String>of() : execution.obstacles(),
            plane.awaitedKeyspaces(),
            plane.refusedKeyspaces())
        .flatMap(List::stream)
        .findFirst()
        .or(() -> isKnown() ? Optional.empty() : Optional.of("it has just started"));
  }

  /** Which keyspaces there are, and who holds them, as far as is known here. For any thread. */
  public Placement placement() {
    return execution.placement();
  }

  /** Returns warnings about what does not work although this datacenter serves. For any thread. */
  public List<String> warnings() {
    List<String> warnings = new ArrayList<>(execution.wait.warnings());
    warnings.addAll(plane.refusedKeyspaces());
    return warnings;
  }

  /**
   * Returns how often something failed that is tried again, by the kind of attempt. For any thread.
   */
  public Map<String, Long> failedAttempts() {
    return Map.of(
        "control", plane.refused(),
        "keyspaces", plane.failedKeyspaces(),
        "rights", execution.handovers.failedWalks());
  }

  /** Returns the load of keyspaces whose holders follow it. */
  public LoadMeasures loads() {
    return loads;
  }

  public Joining joining() {
    return execution.joining;
  }

  @Override
  public void close() {
    ControlLoop runs = loop;
    if (runs != null) {
      runs.close();
    }
  }
}
