package io.osier.datacenter.control.execution;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.KeyspaceSettings;
import io.osier.datacenter.control.ControlHost;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.control.view.CatchUp;
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
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Carries out in this datacenter what the control plane decides, and answers the control plane's
 * questions. Used by the control plane's thread, except for methods that say so.
 */
final class Execution implements ControlHost {
  private static final Logger LOG = LoggerFactory.getLogger(Execution.class);

  final Joining joining;
  final Handovers handovers;
  final StartupWait wait;

  private final Keyspaces keyspaces;
  private final Runnable changed;
  private final List<User> configuredUsers;
  private final Consumer<Users> onUsers;
  private final OrderedQueue queue = new OrderedQueue();
  private final ReplicaId self;
  private final PeerLinks links;
  private final HomeSearch search;
  private final Map<String, InetSocketAddress> configured;

  /** See {@link #placement}. */
  private volatile Placement placement = Placement.NOTHING;

  /** See {@link #obstacles}. */
  private volatile List<String> obstacles = List.of();

  private boolean started;

  /**
   * @param configured the other datacenters that the configuration names
   * @param startupWaitNanos see {@link StartupWaitRule}
   * @param changed runs when the set of keyspaces changes
   * @param configuredUsers the users that the configuration names
   * @param onUsers is told the users when they change
   */
  Execution(
      ReplicaId self,
      Map<String, InetSocketAddress> configured,
      Keyspaces keyspaces,
      PeerLinks links,
      long startupWaitNanos,
      Runnable changed,
      List<User> configuredUsers,
      Consumer<Users> onUsers) {
    this.self = self;
    this.configured = configured;
    this.keyspaces = keyspaces;
    this.links = links;
    this.wait = new StartupWait(keyspaces, links, startupWaitNanos);
    this.changed = changed;
    this.configuredUsers = List.copyOf(configuredUsers);
    this.onUsers = onUsers;
    this.joining = new Joining(keyspaces, links);
    this.handovers = new Handovers(self, keyspaces);
    this.search = new HomeSearch(keyspaces);
  }

  /** The store's keyspaces are open; the store knew the holders, or it did not. */
  void recovered(boolean knewHolders) {
    if (!wait.recovered(configured.isEmpty() && joining.isAlone(), knewHolders)) {
      // The stored state may be old, and only the others know whether this datacenter joins.
      hinders(
          List.of(
              "datacenter '"
                  + self.dc()
                  + "' has just started and has not heard from the others yet"));
    }
  }

  /** The other datacenters are being dialled from now on, and newly opened keyspaces run. */
  void start() {
    started = true;
    wait.start();
  }

  /** See {@link Control#obstacles}. For any thread. */
  List<String> obstacles() {
    return obstacles;
  }

  /** See {@link Control#placement}. For any thread. */
  Placement placement() {
    return placement;
  }

  // ---------------------------------------------------------------- for the plane

  @Override
  public void setPeers(Peers peers) {
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
              addresses.put(name, configured.getOrDefault(name, PeerLinks.address(peer.address())));
              incarnationsMin.put(name, peer.incarnationMin());
            });
    peers.gone().stream()
        .filter(name -> !addresses.containsKey(name)) // those that left are heard for a moment
        .forEach(name -> incarnationsMin.put(name, Long.MAX_VALUE));
    links.setPeers(addresses, incarnationsMin);
  }

  @Override
  public boolean isComplete() {
    return keyspaces.partitions().allMatch(keyspaces::isComplete);
  }

  @Override
  public boolean isShipped() {
    return keyspaces.control().partitions().stream().allMatch(PeerCoverage::isShipped);
  }

  @Override
  public long incarnation(String name) {
    return name.equals(self.dc())
        ? self.incarnation()
        : keyspaces.control().partitions().stream()
            .mapToLong(p -> PeerCoverage.incarnation(p, name))
            .max()
            .orElse(0);
  }

  @Override
  public boolean isConnected(String name) {
    return links.isConnected(name);
  }

  @Override
  public int protocol(String name) {
    return name.equals(self.dc()) ? PeerVersions.NEWEST : links.protocol(name);
  }

  @Override
  public int protocolMin(String name) {
    return PeerVersions.oldestNaming(name);
  }

  @Override
  public void setProtocols(SortedMap<String, Integer> protocols) {
    links.setProtocols(protocols);
  }

  @Override
  public String clients() {
    return links.clients();
  }

  @Override
  public void setClients(SortedMap<String, String> clients) {
    links.setClients(clients);
  }

  @Override
  public List<String> progress() {
    return handovers.leaves()
        ? handovers.progress()
        : catchUp().filter(c -> c.complete() < c.partitions()).map(CatchUp::words).stream()
            .toList();
  }

  @Override
  public Optional<CatchUp> catchUp() {
    return joining.look(System.nanoTime());
  }

  @Override
  public boolean mayBegin() {
    return wait.mayBegin();
  }

  @Override
  public boolean hasHeard() {
    return wait.hasHeard();
  }

  @Override
  public void hinders(List<String> words) {
    obstacles = List.copyOf(words);
    if (started) {
      wait.goesByWhatIsHere();
    }
    if (words.isEmpty() && handovers.leaves()) {
      handovers.stay();
    }
    keyspaces.hold(
        words.isEmpty()
            ? Optional.empty()
            : Optional.of(words.getFirst() + ", and takes no updates; use another datacenter"));
  }

  @Override
  public boolean leave(List<String> heirs) {
    return handovers.leave(heirs);
  }

  @Override
  public boolean isQuiet() {
    return handovers.isQuiet();
  }

  @Override
  public boolean inherit(Estate estate) {
    return handovers.inherit(estate);
  }

  @Override
  public void compareAnew() {
    keyspaces.compareAnew();
  }

  @Override
  public void end(String why) {
    LOG.warn(why);
    links.end(why);
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
      case Request.Read r -> shard.read(r, queue, answer::complete);
      case Request.Transact t -> shard.transact(t, t, queue, answer::complete);
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
  public boolean mayOpen(KeyspacePolicy policy) {
    return keyspaces.mayOpen(policy);
  }

  @Override
  public boolean hasStored(String keyspace, String created) {
    return keyspaces.hasStored(keyspace, created);
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
  public void setHolders(String keyspace, Holding now) {
    LOG.info(
        "keyspace '{}' is held by {}{}",
        keyspace,
        now.holders(),
        now.joins() ? "; this one is catching up" : "");
    keyspaces.setHolders(keyspace, now);
    handovers.lookAgain();
    if (started) {
      changed.run();
    }
  }

  @Override
  public boolean cease(String keyspace) {
    return keyspaces.cease(keyspace) && handovers.isQuiet(keyspace);
  }

  @Override
  public void resume(String keyspace) {
    LOG.info("this datacenter stays a holder of keyspace '{}'", keyspace);
    handovers.resume(keyspace);
    keyspaces.resume(keyspace);
  }

  @Override
  public boolean giveAway(String keyspace, List<String> heirs) {
    return handovers.giveAway(keyspace, heirs);
  }

  @Override
  public boolean isWhole(String keyspace) {
    return keyspaces.isWhole(keyspace);
  }

  @Override
  public Optional<String> searchForKeys(String id, List<String> names) {
    return search.step(id, names);
  }

  @Override
  public void drop(String name, String creation) {
    handovers.forget(name);
    keyspaces.drop(name, creation, started ? changed : () -> {});
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
}
