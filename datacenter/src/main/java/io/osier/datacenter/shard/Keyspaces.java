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
 * time, and the control plane's own, which clients do not see. They are opened and dropped by one
 * thread at a time; all else is for any thread.
 *
 * <p>Each partition has an equal part of what the configuration lets all of them take of the heap.
 * The parts are made anew when a keyspace comes or goes.
 */
public final class Keyspaces {
  private final FeedThread feeds = new FeedThread();
  private final KeyspaceFactory factory;
  private final Map<String, Open> open = new ConcurrentSkipListMap<>();

  /** Those that clients see. */
  private final Map<String, KeyspaceShard> shown = new ConcurrentSkipListMap<>();

  private volatile Set<String> peers;

  /** How often partitions were told of them: what is complete is so since one of these times. */
  private final AtomicLong told = new AtomicLong();

  private final KeyspaceHolders holders;

  /** Why no updates are taken; empty if they are. */
  private volatile Optional<String> held = Optional.empty();

  private final DroppedKeyspaces dropped;

  private final ConflictingProcesses second =
      new ConflictingProcesses(why -> open.values().forEach(o -> o.shard().gate().setSecond(why)));

  /** What partitions that are opened from now on are told of them; empty as long as they know. */
  private volatile Optional<Members> members = Optional.empty();

  /**
   * The other datacenters, where they have changed.
   *
   * @param sharers those that get a part of the rights of new bounded counters
   * @param joins whether this one has not caught up with all of them yet
   */
  public record Members(Set<String> others, Set<String> sharers, boolean joins, int rank) {}

  public Keyspaces(KeyspaceFactory.Around around) {
    this.dropped = new DroppedKeyspaces(around);
    this.factory = new KeyspaceFactory(around, feeds);
    this.peers = Set.copyOf(around.config().peers().keySet());
    this.holders = new KeyspaceHolders(around.self().dc());
  }

  // ---------------------------------------------------------------- with whom they are shared

  /** From now on these are the other datacenters; or they are compared with anew. */
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
   * From now on these hold a keyspace, which may be opened later. It is shown to clients while this
   * datacenter is one of them, and serves.
   */
  public void setHolders(String name, Holding now) {
    holders.set(name, now);
    Open one = open.get(name);
    if (one != null) {
      one.shard().configure(one.shard().policy().withReplicas(now.holders()));
      compareAnew(); // first: who has gone is no peer any more when it does not leave any more
      show(one);
    }
  }

  /** While it is not known who holds keyspaces, none is read that has holders by name. */
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
   * Gives a keyspace up: what is asked is forwarded, once it is known what was shown here. Called
   * again and again.
   *
   * @return whether it was so the last time already
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

  /** A keyspace is not given up after all. */
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

  /** What was shown of a partition before the keyspace was given up here; else nothing. */
  public VersionVector shownBefore(String name, int partition) {
    Open one = open.get(name);
    return one == null || partition >= one.shard().partitions().size()
        ? VersionVector.EMPTY
        : one.shard().partitions().get(partition).shown().orElse(VersionVector.EMPTY);
  }

  /** Who holds them, as far as that was altered. */
  public KeyspaceHolders holders() {
    return holders;
  }

  /** Whether a keyspace that is open has what all others that hold it have. */
  public boolean isWhole(String name) {
    KeyspaceShard shard = find(name);
    return shard != null && shard.partitions().stream().allMatch(this::isComplete);
  }

  /** Whether a partition has what the others had when they were told last who there is. */
  public boolean isComplete(PartitionRunner partition) {
    return partition.isReady() && partition.isComplete(told.get()) && partition.isSettled();
  }

  /** Of how many of the others the control plane's keyspace has what they had. */
  public PeersHeard heard() {
    return control().partitions().getFirst().heard(told.get());
  }

  /** Partitions that are not ready wait for the peers from now on, as from their start. */
  public void awaitPeers() {
    partitions().filter(p -> !p.isReady()).forEach(p -> p.submit(new Input.Await()));
  }

  /** Finds out anew whether this datacenter has what the others have. */
  public void compareAnew() {
    members.ifPresent(this::setMembers);
  }

  /** Takes no updates, for a reason in words, or takes them again; also what is opened later. */
  public void hold(Optional<String> why) {
    held = why;
    shown.values().forEach(k -> k.gate().hold(why));
  }

  /**
   * A datacenter takes another process for this one, or does not know which of the two is; or it
   * takes this one.
   *
   * @param why in words; empty if it takes this one
   */
  public void secondTo(String dc, Optional<String> why) {
    second.heard(dc, why, System.nanoTime());
  }

  /** A datacenter is said to be dead: if silent, who it takes for this one does not matter. */
  public void giveUp(String dc) {
    second.giveUp(dc, System.nanoTime());
  }

  /** By datacenter, why this process is not the one that it talks to. */
  public Map<String, String> second() {
    return second.all();
  }

  // ---------------------------------------------------------------- which there are

  /** Tells all watchers that they must go elsewhere. */
  public void endWatching() {
    Reply.Failure why =
        new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down");
    open.values().forEach(o -> o.shard().feed().close(why));
    feeds.close();
  }

  /** Those that clients see, by name; it changes when they do. */
  public Map<String, KeyspaceShard> shown() {
    return Collections.unmodifiableMap(shown);
  }

  /** All but the control plane's own, clients see them or not. */
  public List<KeyspaceShard> held() {
    return open.values().stream()
        .map(Open::shard)
        .filter(k -> !k.policy().name().equals(KeyspacePolicy.CONTROL))
        .toList();
  }

  /** The datacenter's time, in milliseconds since 1970: what has expired is not shown. */
  public long millis() {
    return partitions().findFirst().orElseThrow().millis();
  }

  public Stream<PartitionRunner> partitions() {
    return open.values().stream().flatMap(o -> o.shard().partitions().stream());
  }

  /** One of them, clients see it or not; null if there is none of that name. */
  public @Nullable KeyspaceShard find(String name) {
    Open found = open.get(name);
    return found == null ? null : found.shard();
  }

  /** The control plane's own. */
  public KeyspaceShard control() {
    return requireNonNull(open.get(KeyspacePolicy.CONTROL), "opened first").shard();
  }

  /** What the store has of an object of the control plane, before its partition runs. */
  public Optional<CrdtState> recovered(ObjectId object) {
    List<PartitionStore> stores =
        requireNonNull(open.get(KeyspacePolicy.CONTROL), "opened first").stores();
    return stores.stream().findFirst().flatMap(s -> Optional.ofNullable(s.getDurable(object)));
  }

  /** The fingerprints of the keyspaces that a peer holds, too, by their names. */
  public List<String> fingerprints(String peer) {
    return open.values().stream()
        .filter(one -> one.shard().policy().heldBy(peer))
        .map(one -> holders.fingerprint(one.shard().policy(), one.creation().created(), peer))
        .toList();
  }

  // ---------------------------------------------------------------- they come and go

  /** Opens those that are there from the start, in their order; none runs yet. */
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

  /** Whether what the store has of one that the configuration names is of no later term. */
  public boolean mayOpen(KeyspacePolicy policy) {
    Creation of = new Creation(policy.name(), Optional.empty());
    return factory.mayOpen(policy, of, peers, holders.terms(policy.name()));
  }

  /** Whether the store has one, open or not. */
  public boolean hasStored(String name, String created) {
    return factory.hasStored(Creation.of(name, created));
  }

  /**
   * Opens one that was created at run time; {@link #start} follows where others run already.
   *
   * @param policy if it is of others, this one was added to its holders: {@link #setHolders}
   * @param awaited until these have opened it, it takes no updates
   */
  public void open(
      KeyspacePolicy policy, Optional<String> created, boolean first, List<String> awaited) {
    Open made = make(policy, created, first, partsWith(List.of(policy)));
    made.shard().gate().setAwaited(awaited);
    add(made);
    factory.share(open.values());
  }

  /** Starts the partitions of one that was opened while others ran. */
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
   * Drops a keyspace with all that is in it, or, if it is not open, that the store has of it.
   *
   * @param left is run when nothing comes to it any more, and before what it had is deleted
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

  /** How many updates were dropped that no other datacenter is known to have had. */
  public long droppedUpdates() {
    return dropped.updates();
  }

  /**
   * Deletes what the store has of keyspaces that were dropped while this datacenter did not run,
   * unless they are open.
   *
   * @param created by name, the creations that there are
   */
  public void dropOthers(Map<String, String> created) {
    dropped.dropOthers(created, open.values());
  }

  public void configure(KeyspacePolicy policy) {
    Open one = open.get(policy.name());
    if (one != null) {
      one.shard().configure(policy.withReplicas(one.shard().policy().replicas()));
      factory.share(open.values());
    }
  }

  /** Until these have opened a keyspace it takes no updates. */
  public void await(String name, List<String> datacenters) {
    Open one = open.get(name);
    if (one != null) {
      one.shard().gate().setAwaited(datacenters);
    }
  }
}
