package io.osier.datacenter.shard;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.control.ControlHost.Holding;
import io.osier.datacenter.feed.FeedThread;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.shard.KeyspaceFactory.Creation;
import io.osier.datacenter.shard.KeyspaceFactory.Open;
import io.osier.datacenter.shard.KeyspaceFactory.Parts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.propagation.host.PeersHeard;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The keyspaces of a datacenter: those that its configuration names, those that were created at run
 * time, and the control plane's own, which clients do not see. One thread at a time opens and drops
 * them; all other methods are for any thread.
 *
 * <p>Each partition has an equal part of the heap that the configuration allows for all. The parts
 * change when a keyspace comes or goes.
 */
public final class Keyspaces {
  private final FeedThread feeds = new FeedThread();
  private final KeyspaceFactory factory;
  private final Map<String, Open> open = new ConcurrentSkipListMap<>();

  /** The keyspaces that clients see. */
  private final Map<String, KeyspaceShard> shown = new ConcurrentSkipListMap<>();

  private volatile Set<String> peers;

  /** Counts how often partitions were told their peers. */
  private final AtomicLong told = new AtomicLong();

  private final KeyspaceHolders holders;

  /** Why no updates are taken; empty if they are. */
  private volatile Optional<String> held = Optional.empty();

  private final DroppedKeyspaces dropped;

  private final ConflictingProcesses second =
      new ConflictingProcesses(why -> open.values().forEach(o -> o.shard().gate().setSecond(why)));

  /** The members that partitions opened from now on are told; empty until the members change. */
  private volatile Optional<Members> members = Optional.empty();

  /**
   * The other datacenters, after a change.
   *
   * @param sharers the datacenters that share the rights of new bounded counters
   * @param joins whether this datacenter has not caught up with all of them yet
   */
  public record Members(Set<String> others, Set<String> sharers, boolean joins, int rank) {}

  public Keyspaces(KeyspaceFactory.Around around) {
    this.dropped = new DroppedKeyspaces(around);
    this.factory = new KeyspaceFactory(around, feeds);
    this.peers = Set.copyOf(around.config().peers().keySet());
    this.holders = new KeyspaceHolders(around.self().dc());
  }

  // ---------------------------------------------------------------- members and holders

  /** Sets the other datacenters; partitions compare their data with all of them anew. */
  public void setMembers(Members changed) {
    peers = Set.copyOf(changed.others);
    second.retain(peers);
    members = Optional.of(changed);
    told.incrementAndGet();
    open.values().forEach(one -> tell(one, changed));
  }

  private void tell(Open one, Members changed) {
    KeyspacePolicy policy = one.shard().policy();
    List<String> held = changed.others.stream().filter(policy::heldBy).sorted().toList();
    List<String> sharers = holders.sharers(policy, changed.sharers);
    one.shard().setPeers(held);
    boolean joins = changed.joins || holders.joins(policy.name());
    Input.Peers input = new Input.Peers(told.get(), held, sharers, joins, changed.rank);
    one.shard().partitions().forEach(p -> p.submit(input));
  }

  /**
   * Sets the holders of a keyspace, which may be opened later. Clients see the keyspace while this
   * datacenter is a holder and serves it.
   */
  public void setHolders(String name, Holding now) {
    holders.set(name, now);
    Open one = open.get(name);
    if (one != null) {
      one.shard().configure(one.shard().policy().withReplicas(now.holders()));
      compareAnew(); // before the gate is told which peers leave
      show(one);
    }
  }

  /** While the holders of keyspaces are unknown, keyspaces with holders by name are not read. */
  public void awaitHolders(boolean awaits) {
    holders.setUnsure(awaits);
    open.values().forEach(this::show);
  }

  private void show(Open one) {
    String name = one.shard().policy().name();
    one.shard().gate().setLeaving(holders.leaving(name));
    one.shard().gate().setUnsure(holders.isUnsure(one.shard().policy()));
    if (holders.isServed(one.shard().policy())) {
      one.shard().gate().hold(held);
      shown.put(name, one.shard());
    } else {
      shown.remove(name);
    }
  }

  /**
   * Gives a keyspace up: once it is known which updates were shown here, requests are forwarded.
   * Called again and again.
   *
   * @return whether the keyspace was given up before this call
   */
  public boolean cease(String name) {
    Open one = open.get(name);
    if (one == null || holders.hasCeased(name)) {
      return one != null;
    }
    List<PartitionRunner> partitions = one.shard().partitions();
    partitions.forEach(p -> p.submit(new Input.Cease()));
    if (partitions.stream().allMatch(p -> p.shown().isPresent())) {
      holders.cease(name);
      show(one);
      one.shard().releaseWatchers();
      one.shard().absorbAll();
    }
    return false;
  }

  /** Serves a keyspace again that is not given up after all. */
  public void resume(String name) {
    Open one = open.get(name);
    if (one == null) {
      return;
    }
    if (holders.resume(name)) {
      show(one);
    }
    one.shard().partitions().forEach(p -> p.submit(new Input.Resume()));
  }

  /** Returns what a partition had shown when the keyspace was given up here; else nothing. */
  public VersionVector shownBefore(String name, int partition) {
    Open one = open.get(name);
    return one == null || partition >= one.shard().partitions().size()
        ? VersionVector.EMPTY
        : one.shard().partitions().get(partition).shown().orElse(VersionVector.EMPTY);
  }

  /** Returns the holders of keyspaces, as far as these were altered. */
  public KeyspaceHolders holders() {
    return holders;
  }

  /** Returns whether an open keyspace has all data that its other holders have. */
  public boolean isWhole(String name) {
    KeyspaceShard shard = find(name);
    return shard != null && shard.partitions().stream().allMatch(this::isComplete);
  }

  /** Returns whether a partition has all data that its peers had when it was last told of them. */
  public boolean isComplete(PartitionRunner partition) {
    return partition.isReady() && partition.isComplete(told.get()) && partition.isSettled();
  }

  /** Returns whether the control plane's keyspace has the data of no, some or all peers. */
  public PeersHeard heard() {
    return control().partitions().getFirst().heard(told.get());
  }

  /** Makes partitions that are not ready wait for their peers from now on, as from their start. */
  public void awaitPeers() {
    partitions().filter(p -> !p.isReady()).forEach(p -> p.submit(new Input.Await()));
  }

  /** Makes partitions find out anew whether they have the data of their peers. */
  public void compareAnew() {
    members.ifPresent(this::setMembers);
  }

  /** Refuses updates for this reason, or takes them again; also in keyspaces opened later. */
  public void hold(Optional<String> why) {
    held = why;
    shown.values().forEach(k -> k.gate().hold(why));
  }

  /**
   * Notes that a datacenter takes another process for this one, or cannot tell which of the two it
   * is; or that it talks to this one.
   *
   * @param why in words; empty if it talks to this one
   */
  public void secondTo(String dc, Optional<String> why) {
    second.heard(dc, why, System.nanoTime());
  }

  /** Notes that a datacenter is said to be dead: if it is silent, its word does not count. */
  public void giveUp(String dc) {
    second.giveUp(dc, System.nanoTime());
  }

  /** Returns, by datacenter, why it talks to another process than this one. */
  public Map<String, String> second() {
    return second.all();
  }

  // ---------------------------------------------------------------- finding keyspaces

  /** Tells all watchers that they must go elsewhere. */
  public void endWatching() {
    Reply.Failure why =
        new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down");
    open.values().forEach(o -> o.shard().feed().close(why));
    feeds.close();
  }

  /** Returns the keyspaces that clients see, by name; a live view. */
  public Map<String, KeyspaceShard> shown() {
    return Collections.unmodifiableMap(shown);
  }

  /** Returns all keyspaces but the control plane's own, whether clients see them or not. */
  public List<KeyspaceShard> held() {
    return open.values().stream()
        .map(Open::shard)
        .filter(k -> !k.policy().name().equals(KeyspacePolicy.CONTROL))
        .toList();
  }

  /** Returns the time by which objects expire, in milliseconds since 1970. */
  public long millis() {
    return partitions().findFirst().orElseThrow().millis();
  }

  public Stream<PartitionRunner> partitions() {
    return open.values().stream().flatMap(o -> o.shard().partitions().stream());
  }

  /** Returns a keyspace, whether clients see it or not; null if none of that name is open. */
  public @Nullable KeyspaceShard find(String name) {
    Open found = open.get(name);
    return found == null ? null : found.shard();
  }

  /** Returns the control plane's own keyspace. */
  public KeyspaceShard control() {
    return requireNonNull(open.get(KeyspacePolicy.CONTROL), "opened first").shard();
  }

  /** Returns what the store has of an object of the control plane, before its partition runs. */
  public Optional<CrdtState> recovered(ObjectId object) {
    List<PartitionStore> stores =
        requireNonNull(open.get(KeyspacePolicy.CONTROL), "opened first").stores();
    return stores.stream().findFirst().flatMap(s -> Optional.ofNullable(s.getDurable(object)));
  }

  /** Returns the fingerprints, by name, of the keyspaces that this peer holds, too. */
  public List<String> fingerprints(String peer) {
    return open.values().stream()
        .filter(one -> one.shard().policy().heldBy(peer))
        .map(one -> holders.fingerprint(one.shard().policy(), one.creation().created(), peer))
        .toList();
  }

  // ---------------------------------------------------------------- opening and dropping

  /** Opens the keyspaces of the start, in their order; none runs yet. */
  public void open(List<KeyspacePolicy> policies) {
    Parts parts = partsWith(policies);
    policies.forEach(policy -> add(make(policy, Optional.empty(), false, parts)));
    factory.share(open.values());
  }

  private Parts partsWith(List<KeyspacePolicy> more) {
    List<KeyspacePolicy> all = new ArrayList<>(more);
    open.values().forEach(o -> all.add(o.shard().policy()));
    return factory.parts(all);
  }

  /** Returns false if the store holds a configured keyspace in a later term than is known. */
  public boolean mayOpen(KeyspacePolicy policy) {
    Creation of = new Creation(policy.name(), Optional.empty());
    return factory.mayOpen(policy, of, peers, holders.terms(policy.name()));
  }

  /** Whether the store has one, open or not. */
  public boolean hasStored(String name, String created) {
    return factory.hasStored(Creation.of(name, created));
  }

  /**
   * Opens a keyspace that was created at run time; if others run already, {@link #start} follows.
   *
   * @param policy its policy; if it does not name this datacenter, that was added to the holders
   *     ({@link #setHolders})
   * @param awaited the keyspace takes no updates until these datacenters have opened it
   */
  public void open(
      KeyspacePolicy policy, Optional<String> created, boolean first, List<String> awaited) {
    Open made = make(policy, created, first, partsWith(List.of(policy)));
    made.shard().gate().setAwaited(awaited);
    add(made);
    factory.share(open.values());
  }

  /** Starts the partitions of a keyspace that was opened while others ran. */
  public void start(String name) {
    requireNonNull(open.get(name), name).shard().partitions().forEach(PartitionRunner::start);
  }

  private Open make(KeyspacePolicy policy, Optional<String> created, boolean first, Parts parts) {
    return factory.make(
        holders.all(policy), created, first, peers, holders.terms(policy.name()), parts);
  }

  private void add(Open made) {
    String name = made.shard().policy().name();
    open.put(name, made);
    second.tell();
    members.ifPresent(known -> tell(made, known));
    show(made);
  }

  /**
   * Drops a keyspace with all its data; if it is not open, the data in the store.
   *
   * @param left is run when no more requests reach it, before its data is deleted
   */
  public void drop(String name, String created, Runnable left) {
    shown.remove(name);
    Open gone = open.remove(name);
    holders.forget(name);
    if (gone == null) {
      dropped.delete(Creation.of(name, created));
      return;
    }
    left.run();
    dropped.add(gone, peers);
    factory.share(open.values());
  }

  /** Returns how many updates were dropped that no other datacenter is known to have had. */
  public long droppedUpdates() {
    return dropped.updates();
  }

  /**
   * Deletes the data of keyspaces that were dropped while this datacenter did not run, unless they
   * are open.
   *
   * @param created the existing creations, by name
   */
  public void dropOthers(Map<String, String> created) {
    dropped.dropOthers(created, open.values());
  }

  public void configure(KeyspacePolicy policy) {
    Open one = open.get(policy.name());
    if (one != null) {
      KeyspacePolicy before = one.shard().policy();
      one.shard().configure(policy.withReplicas(before.replicas()));
      factory.share(open.values());
      one.shard().feed().configure(before, policy);
    }
  }

  /** Makes a keyspace refuse updates until these datacenters have opened it. */
  public void await(String name, List<String> datacenters) {
    Open one = open.get(name);
    if (one != null) {
      one.shard().gate().setAwaited(datacenters);
    }
  }
}
