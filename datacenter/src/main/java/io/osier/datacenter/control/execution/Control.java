package io.osier.datacenter.control.execution;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.UserRecords;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.CatchUp;
import io.osier.datacenter.control.ControlHost;
import io.osier.datacenter.control.ControlLoop;
import io.osier.datacenter.control.ControlPlane;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The control plane in its datacenter. {@link #administer} is for any thread. */
public final class Control implements ControlHost, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Control.class);

  private final Keyspaces keyspaces;
  private final Runnable changed;
  private final List<User> configuredUsers;
  private final Consumer<Users> onUsers;
  private final OrderedQueue lane = new OrderedQueue();
  private final ReplicaId self;
  private final Outside outside;
  private final Map<String, InetSocketAddress> configured;
  private final ControlPlane plane;

  private final Joining joining;
  private final long firstWordNanos;

  /** Since it follows what is changed; null before. */
  private volatile @Nullable FirstWord firstWord;

  /** See {@link #isKnown}. */
  private volatile boolean known;

  /** See {@link #placement}. */
  private volatile Placement placement = Placement.NOTHING;

  /** Whether it was said that nobody was heard. */
  private boolean saidAlone;

  private Optional<LeaveProcedure> leaving = Optional.empty();

  /** By keyspace that is given up here. */
  private final Map<String, LeaveProcedure> givenUp = new TreeMap<>();

  /** By name of one that was given up. */
  private final Map<String, RightsTakeover> inheriting = new TreeMap<>();

  /** See {@link #obstacles}. */
  private volatile List<String> obstacles = List.of();

  private boolean started;
  private volatile @Nullable ControlLoop loop;
  private final LongAdder failedWalks = new LongAdder();

  /** What of the datacenter is not in its keyspaces. Called by the control plane's thread. */
  public interface Outside {
    /** From now on these are the other datacenters, and where they are dialled. */
    void setPeers(Map<String, InetSocketAddress> peers, Map<String, Long> incarnationsMin);

    /** Whether frames can be sent to a datacenter. */
    boolean isConnected(String name);

    /** Whether one is in reach of which it is not decided yet whether it lets this one in. */
    boolean isHeld();

    /** The newest version of the peer protocol that another one speaks, as far as is known. */
    int protocol(String name);

    /** By name, the newest version of the peer protocol that datacenters say that they speak. */
    void setProtocols(Map<String, Integer> protocols);

    /** How others reach this datacenter's port for clients; empty while there is none. */
    String clients();

    /** By name, how the ports for clients are reached of the datacenters that have said so. */
    void setClients(Map<String, String> clients);

    /** How many bytes have come from the others since the start. */
    long receivedBytes();

    /** Sends a note to another one, if it can. */
    void note(String dc, byte[] content);

    /** This datacenter is none of the cluster any more. */
    void end(String why);
  }

  /**
   * Of a datacenter that starts.
   *
   * @param outside what of the datacenter is not in its keyspaces
   * @param firstWordNanos see {@link FirstWord}
   * @param changed is run when the keyspaces are others than before
   * @param configuredUsers those that the configuration names
   * @param onUsers is told the users when they are others than before
   */
  public Control(
      DatacenterConfig config,
      ReplicaId self,
      Keyspaces keyspaces,
      Outside outside,
      long firstWordNanos,
      Runnable changed,
      List<User> configuredUsers,
      Consumer<Users> onUsers) {
    this.configuredUsers = List.copyOf(configuredUsers);
    this.onUsers = onUsers;
    this.keyspaces = keyspaces;
    this.changed = changed;
    this.self = self;
    this.outside = outside;
    this.joining = new Joining(keyspaces, outside);
    this.firstWordNanos = firstWordNanos;
    this.configured = config.peers();
    SortedMap<String, Optional<String>> datacenters = new TreeMap<>();
    config.peers().forEach((name, at) -> datacenters.put(name, Optional.of(text(at))));
    datacenters.put(self.dc(), Optional.empty());
    Map<String, KeyspacePolicy> configured = new TreeMap<>();
    config.keyspaces().forEach(policy -> configured.put(policy.name(), policy));
    config.elsewhere().forEach(policy -> configured.put(policy.name(), policy));
    this.plane =
        new ControlPlane(self.dc(), datacenters, configured, System::currentTimeMillis, this);
  }

  private static String text(InetSocketAddress address) {
    return new HostPort(address.getHostString(), address.getPort()).toString();
  }

  /** Opens what the store knew when this datacenter ended; before anything runs. */
  public void recover() {
    keyspaces
        .recovered(ControlPlane.DATACENTERS)
        .map(state -> state.read(new Query.Whole()))
        .ifPresent(reading -> plane.recoverDatacenters((Reading.Fields) reading));
    keyspaces
        .recovered(ControlPlane.KEYSPACES)
        .map(state -> state.read(new Query.Whole()))
        .ifPresent(reading -> plane.recover((Reading.Fields) reading));
    keyspaces
        .recovered(UserRecords.OBJECT)
        .map(state -> state.read(new Query.Whole()))
        .ifPresent(reading -> plane.recoverUsers((Reading.Fields) reading));
    known = configured.isEmpty() && joining.isAlone();
    if (!known) {
      // What it stored may be old; and whether it joins, the others know.
      hinders(
          List.of(
              "datacenter '"
                  + self.dc()
                  + "' has just started and has not heard from the others yet"));
    }
  }

  /**
   * The keyspaces of the configuration that are to be open at the start; after {@link #recover}.
   */
  public List<KeyspacePolicy> configured() {
    return plane.configured();
  }

  /** From now on it follows what is changed. The others are being dialled. */
  public void start() {
    started = true;
    firstWord = new FirstWord(System.nanoTime(), firstWordNanos);
    loop = new ControlLoop(plane);
  }

  /** Does what an operator asks for; one JSON object. */
  public CompletableFuture<String> administer(Request.Administer request, String by) {
    if (isGivingUp(request)) {
      keyspaces.giveUp(request.name());
    }
    boolean changes = !request.action().equals("list");
    if (changes
        && !keyspaces
            .second()
            .isEmpty()) { // what it changed would have numbers that others give, too
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.REFUSED_BY_PEERS,
              "nothing is changed here, since another process has this one's name: "
                  + keyspaces.second()
                  + "; 'dc remove NAME --dead' gives up one of these that has been silent for 10"
                  + " s"));
    }
    ControlLoop runs = loop;
    if (runs == null) {
      return CompletableFuture.failedFuture(
          new OsierException(ErrorCode.UNAVAILABLE, "the datacenter has just started"));
    }
    return switch (request.subject()) {
      case "user" -> runs.administerUsers(request, by).thenApply(ControlJson::users);
      case "dc" -> runs.administerDatacenters(request, by).thenApply(ControlJson::datacenters);
      default -> runs.administer(request, by).thenApply(ControlJson::keyspaces);
    };
  }

  private static boolean isGivingUp(Request.Administer request) {
    return request.subject().equals("dc")
        && request.action().equals("remove")
        && "true".equals(request.settings().get("dead"));
  }

  /** What keeps this datacenter from being one like the others, in words. */
  public List<String> obstacles() {
    return obstacles;
  }

  /**
   * Whether it is known which keyspaces, users and datacenters there are, as far as others can be
   * asked. For any thread.
   */
  public boolean isKnown() {
    return known;
  }

  /** Which keyspaces there are, and who holds them, as far as is known here. For any thread. */
  public Placement placement() {
    return placement;
  }

  /** What does not work although this datacenter serves. For any thread. */
  public List<String> warnings() {
    FirstWord first = firstWord;
    return first != null && first.isAlone()
        ? List.of(
            "no other datacenter has told this one since its start what was changed meanwhile: it"
                + " goes by the keyspaces, users and datacenters that it stored")
        : List.of();
  }

  /** By what was tried, how often something failed that is tried again. For any thread. */
  public Map<String, Long> failedAttempts() {
    return Map.of(
        "control", plane.refused(),
        "keyspaces", plane.failedKeyspaces(),
        "rights", failedWalks.sum());
  }

  // ---------------------------------------------------------------- for the plane

  @Override
  public void setPeers(ControlHost.Peers peers) {
    LOG.info("the other datacenters are {}", peers.others());
    joining.setPeers(peers.joins(), peers.others().keySet());
    keyspaces.setMembers(
        new Keyspaces.Members(
            peers.others().keySet(), peers.sharers(), peers.joins(), peers.rank()));
    Map<String, InetSocketAddress> addresses = new TreeMap<>();
    Map<String, Long> incarnationsMin = new TreeMap<>();
    peers
        .others()
        .forEach(
            (name, peer) -> {
              addresses.put(name, configured.getOrDefault(name, address(peer.address())));
              incarnationsMin.put(name, peer.incarnationMin());
            });
    peers.gone().stream()
        .filter(name -> !addresses.containsKey(name)) // who has left is heard for a moment more
        .forEach(name -> incarnationsMin.put(name, Long.MAX_VALUE));
    outside.setPeers(addresses, incarnationsMin);
  }

  private static InetSocketAddress address(String text) {
    // What a former version took for an address cannot be dialled; the other one may dial.
    return HostPort.parse(text)
        .map(a -> InetSocketAddress.createUnresolved(a.host(), a.port()))
        .orElseGet(() -> InetSocketAddress.createUnresolved(text, 0));
  }

  @Override
  public boolean isComplete() {
    return keyspaces.partitions().allMatch(keyspaces::isComplete);
  }

  @Override
  public boolean isShipped() {
    return keyspaces.control().partitions().stream().allMatch(RightsWalk::isShipped);
  }

  @Override
  public long incarnation(String name) {
    return name.equals(self.dc())
        ? self.incarnation()
        : keyspaces.control().partitions().stream()
            .mapToLong(p -> RightsWalk.incarnation(p, name))
            .max()
            .orElse(0);
  }

  @Override
  public boolean isConnected(String name) {
    return outside.isConnected(name);
  }

  @Override
  public int protocol(String name) {
    return name.equals(self.dc()) ? PeerVersions.NEWEST : outside.protocol(name);
  }

  @Override
  public int protocolMin(String name) {
    return PeerVersions.oldestNaming(name);
  }

  @Override
  public void setProtocols(SortedMap<String, Integer> protocols) {
    outside.setProtocols(protocols);
  }

  @Override
  public String clients() {
    return outside.clients();
  }

  @Override
  public void setClients(SortedMap<String, String> clients) {
    outside.setClients(clients);
  }

  @Override
  public List<String> progress() {
    if (leaving.isPresent()) {
      return leaving.get().progress().stream().toList();
    }
    return catchUp().filter(c -> c.complete() < c.partitions()).map(CatchUp::words).stream()
        .toList();
  }

  @Override
  public Optional<CatchUp> catchUp() {
    return joining.look(System.nanoTime());
  }

  /** How far this one is if it joins. */
  public Joining joining() {
    return joining;
  }

  @Override
  public boolean mayBegin() {
    return knows(requireNonNull(firstWord, "set before the plane looks"));
  }

  private boolean knows(FirstWord first) {
    boolean isHeld = outside.isHeld();
    long now = System.nanoTime();
    if (first.awaits(isHeld, now)) {
      keyspaces.awaitPeers();
    }
    return first.knows(keyspaces.heard(), isHeld, now);
  }

  @Override
  public boolean hasHeard() {
    FirstWord first = requireNonNull(firstWord, "set before the plane looks");
    if (first.isAlone()) {
      knows(first);
    }
    if (first.isAlone() != saidAlone) {
      saidAlone = !saidAlone;
      if (saidAlone) {
        warnings().forEach(LOG::warn);
      } else {
        LOG.info("the other datacenters are heard now");
      }
    }
    return !saidAlone;
  }

  @Override
  public void hinders(List<String> words) {
    obstacles = List.copyOf(words);
    known |= started;
    if (words.isEmpty() && leaving.isPresent()) {
      LOG.info("this datacenter stays");
      leaving.get().stay();
      leaving = Optional.empty();
      givenUp.clear(); // these begin anew: their partitions were told to stay, too
    }
    keyspaces.hold(
        words.isEmpty()
            ? Optional.empty()
            : Optional.of(words.getFirst() + ", and takes no updates; others do"));
  }

  @Override
  public boolean leave(List<String> heirs) {
    LOG.debug("of {} the first that can gets the rights of this datacenter", heirs);
    return leaving().step(heirs);
  }

  @Override
  public boolean isQuiet() {
    return leaving().isQuiet();
  }

  private LeaveProcedure leaving() {
    if (leaving.isEmpty()) {
      LOG.info("this datacenter leaves");
      leaving = Optional.of(new LeaveProcedure(self, keyspaces, keyspaces::held, failedWalks));
    }
    return leaving.get();
  }

  @Override
  public void compareAnew() {
    keyspaces.compareAnew();
  }

  @Override
  public boolean inherit(ControlHost.Estate estate) {
    RightsTakeover of = inheriting.get(estate.from());
    if (of == null || !of.estate().equals(estate)) {
      of = new RightsTakeover(self, keyspaces, estate, failedWalks);
      inheriting.put(estate.from(), of);
    }
    return of.step();
  }

  @Override
  public void end(String why) {
    LOG.warn(why);
    outside.end(why);
  }

  @Override
  public List<User> configuredUsers() {
    return configuredUsers;
  }

  @Override
  public void users(Users all) {
    onUsers.accept(all);
  }

  @Override
  public Reply ask(Request request, int timeoutMillis) {
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    KeyspaceShard shard = keyspaces.control();
    switch (request) {
      case Request.Read r -> shard.read(r, lane, answer::complete);
      case Request.Transact t -> shard.transact(t, t, lane, answer::complete);
      default -> throw new IllegalArgumentException("the control plane does not ask " + request);
    }
    try {
      return answer.get(timeoutMillis, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      return new Reply.Failure(
          ErrorCode.TIMEOUT, "no answer within " + timeoutMillis + " ms; it may be done");
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down");
    }
  }

  @Override
  public OptionalLong recorded() {
    return keyspaces.control().partitions().getFirst().recorded();
  }

  @Override
  public void open(KeyspacePolicy policy, String creation, boolean first, List<String> awaited) {
    keyspaces.open(policy, Optional.of(creation), first, awaited);
    opened(policy);
  }

  @Override
  public void openConfigured(KeyspacePolicy policy) {
    keyspaces.open(policy, Optional.empty(), false, List.of());
    opened(policy);
  }

  private void opened(KeyspacePolicy policy) {
    if (started) {
      LOG.info("keyspace '{}' is open: {}", policy.name(), KeyspaceSettings.text(policy));
      keyspaces.start(policy.name());
      changed.run();
    }
  }

  @Override
  public void setHolders(String keyspace, ControlHost.Holding now) {
    LOG.info(
        "keyspace '{}' is held by {}{}",
        keyspace,
        now.holders(),
        now.joins() ? "; this one is catching up" : "");
    keyspaces.setHolders(keyspace, now);
    inheriting.values().forEach(RightsTakeover::lookAgain);
    if (started) {
      changed.run();
    }
  }

  @Override
  public boolean cease(String keyspace) {
    return keyspaces.cease(keyspace) && givingUp(keyspace).isQuiet();
  }

  @Override
  public void resume(String keyspace) {
    LOG.info("keyspace '{}' is held here as before", keyspace);
    Optional.ofNullable(givenUp.remove(keyspace))
        .filter(of -> leaving.isEmpty())
        .ifPresent(LeaveProcedure::stay);
    keyspaces.resume(keyspace);
  }

  @Override
  public boolean giveAway(String keyspace, List<String> heirs) {
    return givingUp(keyspace).step(heirs);
  }

  private LeaveProcedure givingUp(String keyspace) {
    return givenUp.computeIfAbsent(
        keyspace,
        name -> {
          LOG.info("keyspace '{}' is given up here", name);
          return new LeaveProcedure(
              self,
              keyspaces,
              () -> Optional.ofNullable(keyspaces.find(name)).stream().toList(),
              failedWalks);
        });
  }

  @Override
  public boolean isWhole(String keyspace) {
    return keyspaces.isWhole(keyspace);
  }

  @Override
  public void drop(String name, String creation) {
    LOG.info("keyspace '{}' is dropped", name);
    givenUp.remove(name);
    keyspaces.drop(name, started ? changed : () -> {});
  }

  @Override
  public boolean isSettled() {
    return keyspaces.control().partitions().stream().allMatch(PartitionRunner::isSettled);
  }

  @Override
  public void dropOthers(Map<String, String> creations) {
    keyspaces.dropOthers(creations);
  }

  @Override
  public void configure(KeyspacePolicy policy) {
    LOG.info("keyspace '{}' is altered: {}", policy.name(), KeyspaceSettings.text(policy));
    keyspaces.configure(policy);
  }

  @Override
  public void await(String name, List<String> datacenters) {
    keyspaces.await(name, datacenters);
  }

  @Override
  public void setPlacement(Placement now) {
    placement = now;
  }

  @Override
  public void close() {
    ControlLoop runs = loop;
    if (runs != null) {
      runs.close();
    }
  }
}
