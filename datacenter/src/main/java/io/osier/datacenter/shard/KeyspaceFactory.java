package io.osier.datacenter.shard;

import io.osier.core.ErrorCode;
import io.osier.core.HolderTerms;
import io.osier.core.KeyedHash;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.ReplicaId;
import io.osier.core.time.SlewedClock;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryShares;
import io.osier.datacenter.control.ControlHost;
import io.osier.datacenter.feed.ChangeRing;
import io.osier.datacenter.feed.FeedThread;
import io.osier.datacenter.feed.KeyspaceFeed;
import io.osier.datacenter.partition.Partition;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.Now;
import io.osier.datacenter.partition.machine.PartitionConfig;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.Inbox;
import io.osier.datacenter.shard.agent.PartitionPorts;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.datacenter.shard.agent.Time;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.ObjectStore;
import io.osier.datacenter.store.objects.MemoryStore;
import io.osier.datacenter.store.objects.PartitionStore;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.store.rocks.RocksVersions;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.host.LinkWindows;
import io.osier.propagation.host.RecoveredState;
import io.osier.propagation.wire.Frame;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/**
 * Makes the keyspaces of a datacenter: connects each partition with its store, links and threads,
 * and gives it an equal part of the heap that the configuration allows for all. Used by one thread
 * at a time.
 */
public final class KeyspaceFactory {
  /** Sends a partition's frame to an incarnation of another datacenter. */
  @FunctionalInterface
  public interface Sender {
    void send(ReplicaId to, String keyspace, int partition, Frame frame);
  }

  /**
   * How keyspaces reach other datacenters.
   *
   * @param links the windows that all keyspaces share
   * @param version tells which peer protocol another datacenter speaks; 0 if not known
   */
  public record Network(LinkWindows links, Sender sender, ToIntFunction<String> version) {}

  /**
   * The threads that work for keyspaces besides those of the partitions.
   *
   * @param readers read objects that are not in memory
   * @param longAnswers has answers made that take long to make
   * @param embedded whether callers' threads may run partitions
   */
  public record Threads(Executor readers, Consumer<PendingAnswer> longAnswers, boolean embedded) {}

  /**
   * What all keyspaces have in common.
   *
   * @param store empty if everything is in memory only
   * @param onFailure is told of a failure that stops a partition
   */
  public record Around(
      DatacenterConfig config,
      ReplicaId self,
      Optional<StoreService> store,
      Threads threads,
      Network network,
      Traces traces,
      Consumer<Throwable> onFailure) {}

  /**
   * One creation of a keyspace; after a drop, another keyspace may get the same name.
   *
   * @param created tells creations of one name apart; empty if the configuration names it
   */
  record Creation(String name, Optional<String> created) {
    static Creation of(String name, String created) {
      return new Creation(name, Optional.of(created).filter(c -> !c.equals(ControlHost.FROM_FILE)));
    }

    /** The keyspace's name in the store: another creation of the name is another keyspace there. */
    String stored() {
      return created.map(c -> name + "@" + c).orElse(name);
    }
  }

  record Open(KeyspaceShard shard, Creation creation, List<PartitionStore> stores) {}

  /** Without a store: how many bytes of objects of all partitions stay unpacked, about. */
  private static final long UNPACKED_BYTES = 16L << 20;

  private final Around around;
  private final FeedThread feeds;

  /**
   * @param feeds answers the watchers of all keyspaces
   */
  KeyspaceFactory(Around around, FeedThread feeds) {
    this.around = around;
    this.feeds = feeds;
  }

  /**
   * Divides the heap among this many partitions.
   *
   * @param partitions how many there are in all keyspaces, at least 1
   * @param causal how many of them are causal, at least 1
   */
  record Parts(MemoryShares shares, int partitions, int causal) {
    static Parts of(DatacenterConfig config, Collection<KeyspacePolicy> policies) {
      int all = policies.stream().mapToInt(KeyspacePolicy::partitions).sum();
      int causal =
          policies.stream()
              .filter(p -> p.consistency() == KeyspacePolicy.Consistency.CAUSAL)
              .mapToInt(KeyspacePolicy::partitions)
              .sum();
      return new Parts(config.memory(), Math.max(1, all), Math.max(1, causal));
    }

    PartitionConfig.Memory causalMemory() {
      return new PartitionConfig.Memory(
          shares.history() / causal, shares.transactions() / causal, shares.ended() / causal);
    }

    long commands() {
      return shares.commands() / partitions;
    }

    long changes() {
      return shares.changes() / partitions;
    }
  }

  /** Divides the heap for the case that these are all keyspaces. */
  Parts parts(Collection<KeyspacePolicy> among) {
    return Parts.of(around.config, among);
  }

  /** Returns how many bytes a partition's cache may take. */
  private long cacheBytes(Parts parts) {
    return around.config.store().cacheBytes() / parts.partitions;
  }

  /** Gives each partition its equal part of the heap: these are all keyspaces from now on. */
  void share(Collection<Open> all) {
    Parts parts = parts(all.stream().map(o -> o.shard().policy()).toList());
    for (Open one : all) {
      Input.Configured configured =
          new Input.Configured(
              one.shard().policy(),
              parts.shares().streams(parts.partitions()),
              parts.causalMemory());
      one.shard().partitions().forEach(p -> p.configure(configured, parts.commands()));
      one.stores().forEach(s -> s.setCacheBytes(cacheBytes(parts)));
      one.shard().feed().setBytesMax(parts.changes());
    }
  }

  /**
   * Makes a keyspace, whose partitions do not run yet.
   *
   * @param created tells creations of its name apart; empty if the configuration names it
   * @param first whether the keyspace is new, so that there is nothing to catch up with
   * @param terms how often each holder was added again; holders that never were are missing
   */
  Open make(
      KeyspacePolicy policy,
      Optional<String> created,
      boolean first,
      Set<String> others,
      Map<String, Integer> terms,
      Parts parts) {
    ReplicaId self = HolderTerms.in(around.self, terms);
    List<String> peers = others.stream().filter(policy::heldBy).sorted().toList();
    Creation creation = new Creation(policy.name(), created);
    if (!mayOpen(policy, creation, others, terms)) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          ("keyspace '%s' is stored with a later term of this datacenter as its holder than"
                  + " _osier says yet: it is opened once _osier is up to date")
              .formatted(policy.name()));
    }
    around.store.ifPresent(s -> dropEarlierTerm(s, creation, policy.partitioning(), self));
    List<PartitionRunner> runners = new ArrayList<>();
    List<PartitionStore> stores = new ArrayList<>();
    KeyspaceFeed feed =
        new KeyspaceFeed(
            self,
            policy.partitioning(),
            parts.changes(),
            around.threads.readers,
            System::nanoTime,
            KeyspaceFactory::newLife,
            feeds::signal);
    for (int i = 0; i < policy.partitions(); i++) {
      int number = i;
      PartitionConfig partitionConfig =
          new PartitionConfig(
                  self,
                  peers,
                  policy,
                  number,
                  around.config.streams().within(parts.shares.streams(parts.partitions)),
                  around.config.adaptation())
              .within(parts.causalMemory())
              .recording(around.store.isPresent())
              .sharing(around.network.links)
              .observedBy(around.traces.partition(policy, number, peers));
      ObjectStore objects =
          new MemoryStore(
              KeyedHash.of(new SecureRandom()::nextLong), UNPACKED_BYTES / parts.partitions);
      Journal journal = Journal.NONE;
      RecoveredState recovered = RecoveredState.NOTHING;
      if (around.store.isPresent()) {
        StoreService store = around.store.get();
        PartitionStore durable =
            durable(store, self, policy, creation.stored(), number, cacheBytes(parts));
        stores.add(durable);
        recovered =
            durable.recover(
                store.database().life(),
                store.database().isResumed(),
                store.database().replicas().stream()
                    .filter(replica -> HolderTerms.isOf(replica, terms))
                    .toList());
        objects = durable;
        journal = durable;
      }
      if (first) {
        recovered = recovered.asNew();
      }
      // Both clocks at one moment: opening the store takes long, and timestamps would lie behind
      // those of other datacenters by as much, whose updates would win for minutes.
      long nanos = System.nanoTime();
      double millis = Time.wallMillis();
      Now now = new Now(nanos, (long) millis);
      Partition partition = new Partition(partitionConfig, objects, recovered, now);
      runners.add(
          new PartitionRunner(
              new PartitionPorts(
                  policy.name() + "-" + number,
                  partition,
                  objects,
                  journal,
                  new Ways(policy.name(), number, feed.ring(number))),
              new Inbox(around.config.queue(), parts.commands()),
              new SlewedClock(millis, nanos),
              around.onFailure,
              callers(policy),
              around.store.map(s -> s.writer().help()).orElse(GroupCommitHelp.NONE),
              Optional.of(policy)));
    }
    UpdateGate gate =
        new UpdateGate(
            around.self.dc(), policy.name(), peers, around.store, around.network.version);
    feed.begin(runners);
    feeds.add(feed);
    return new Open(
        new KeyspaceShard(policy, peers, runners, around.threads.readers, gate, feed),
        creation,
        List.copyOf(stores));
  }

  /** Carries a partition's frames and changes. */
  private final class Ways implements PartitionPorts.Sender {
    private final String keyspace;
    private final int partition;
    private final ChangeRing changes;

    Ways(String keyspace, int partition, ChangeRing changes) {
      this.keyspace = keyspace;
      this.partition = partition;
      this.changes = changes;
    }

    @Override
    public void send(ReplicaId to, Frame frame) {
      around.network.sender.send(HolderTerms.life(to), keyspace, partition, frame);
    }

    @Override
    public void visible(Effects.Visible visible) {
      changes.visible(visible);
    }

    @Override
    public void later(PendingAnswer answer) {
      around.threads.longAnswers.accept(answer);
    }
  }

  /** Returns a number for one period of watching, unique among all datacenters. */
  private static long newLife() {
    long life = new SecureRandom().nextLong();
    return life == 0 ? 1 : life;
  }

  private PartitionRunner.Callers callers(KeyspacePolicy policy) {
    if (!around.threads.embedded) {
      return PartitionRunner.Callers.HELP;
    }
    if (around.store.isPresent()) {
      return PartitionRunner.Callers.WAIT;
    }
    return policy.consistency() == KeyspacePolicy.Consistency.SESSION
        ? PartitionRunner.Callers.COMBINE
        : PartitionRunner.Callers.RUN;
  }

  /**
   * Returns false if the store holds the keyspace in a later term than it would be opened in:
   * {@code _osier} may have lost that term, and would have the data dropped when the term comes
   * again. A datacenter without peers opens it, as it will not hear of another term.
   */
  boolean mayOpen(
      KeyspacePolicy policy, Creation of, Set<String> others, Map<String, Integer> terms) {
    long term = HolderTerms.term(HolderTerms.in(around.self, terms));
    return others.isEmpty()
        || around
            .store
            .filter(s -> !s.isReadOnly())
            .map(s -> storedTerms(s.database(), of, policy.partitioning()))
            .stream()
            .flatMap(List::stream)
            .allMatch(stored -> stored <= term);
  }

  /** Whether the store has one. */
  boolean hasStored(Creation of) {
    return around.store.filter(s -> s.database().keyspaces().contains(of.stored())).isPresent();
  }

  private static List<Long> storedTerms(RocksDatabase store, Creation of, Partitioning partitions) {
    if (!store.keyspaces().contains(of.stored())) {
      return List.of();
    }
    return IntStream.range(0, partitions.count())
        .mapToObj(i -> store.partition(of.stored(), i, partitions).state())
        .flatMap(Optional::stream)
        .map(state -> HolderTerms.term(state.self()))
        .toList();
  }

  /**
   * Drops the data of an earlier term if the process ended before it could do so: holders that went
   * on may have forgotten removals since.
   */
  private static void dropEarlierTerm(
      StoreService in, Creation of, Partitioning partitioning, ReplicaId self) {
    if (HolderTerms.term(self) == 0 || in.isReadOnly()) {
      return;
    }
    List<Long> terms = storedTerms(in.database(), of, partitioning);
    if (!terms.isEmpty() && !terms.contains(HolderTerms.term(self))) {
      DroppedKeyspaces.delete(in, of.stored());
    }
  }

  private PartitionStore durable(
      StoreService in,
      ReplicaId self,
      KeyspacePolicy policy,
      String stored,
      int number,
      long cacheBytes) {
    RocksVersions versions = in.database().partition(stored, number, policy.partitioning());
    return new PartitionStore(
        versions,
        in.writer().writerOf(versions),
        self,
        cacheBytes,
        around.config.store().logMax(),
        KeyedHash.of(new SecureRandom()::nextLong),
        in.readers());
  }
}
