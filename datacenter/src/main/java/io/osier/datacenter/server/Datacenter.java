package io.osier.datacenter.server;

import static java.util.Objects.requireNonNull;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.net.HostPort;
import io.osier.core.tls.TlsContext;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.admin.AdminServer;
import io.osier.datacenter.config.AdminSettings;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.ProtectedMode;
import io.osier.datacenter.config.RedisSettings;
import io.osier.datacenter.config.TlsSettings;
import io.osier.datacenter.control.execution.Control;
import io.osier.datacenter.control.execution.FirstWord;
import io.osier.datacenter.copies.Copies;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.LocalAccess;
import io.osier.datacenter.frontend.LoginSecret;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.frontend.RequestWatch;
import io.osier.datacenter.frontend.SlowLog;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.metrics.report.Inspector;
import io.osier.datacenter.metrics.report.Publisher;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.pubsub.PublishNote;
import io.osier.datacenter.shard.FormerRemovals;
import io.osier.datacenter.shard.KeyspaceFactory;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.LongAnswers;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.shard.agent.PendingAnswer;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.SharedWindows;
import io.osier.proxy.InProcess;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One datacenter: its partitions, its connections to clients and peers. Several may run in one JVM.
 * Thread-safe.
 */
public final class Datacenter implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Datacenter.class);

  /** Scans of what is in memory at one time; their threads start with the first. */
  private static final int SCANNERS = 2;

  private final DatacenterConfig config;
  private final boolean embedded;
  private final ReplicaId self;
  private final CompletableFuture<Void> failure = new CompletableFuture<>();
  private final Keyspaces keyspaces;
  private final SharedWindows links;
  private final Traces traces;
  private final @Nullable Certificates certificates; // null if nothing is encrypted
  private final LongAdder thrownAway = new LongAdder();
  private final @Nullable StoreService store; // null if everything is in memory only

  // Not final: they are null while earlier parts start, which may ask for them later.
  private PeerTransport transport;
  private ClientServer clients;

  /** What walks many objects in memory, for which no connection's thread has the time. */
  private final ExecutorService scanners =
      Executors.newFixedThreadPool(
          SCANNERS, r -> Thread.ofPlatform().name("osier-scanner").daemon(true).unstarted(r));

  private final LongAnswers longAnswers = new LongAnswers();
  private final Readiness readiness;
  private final AccessControl access;
  private volatile Users users = Users.OPEN;
  private final Control control;
  private final Forwarding forwarding;
  private final RequestHandler handler;
  private final Publisher publisher;
  private final @Nullable AdminServer admin;
  private final PubSub pubSub;
  private final @Nullable RedisListener redis;
  private final Reports reports;
  private final PeerDirectory neighbours;
  private volatile boolean closed;

  /**
   * What is around a datacenter.
   *
   * @param auditLost by reason, how many lines of the audit log did not come to its file; cheap
   * @param opener opens its store
   * @param firstWordNanos how long it waits for those who are in reach, before it goes by what it
   *     stored
   */
  record Surroundings(
      Supplier<Map<String, Long>> auditLost, StoreService.Opener opener, long firstWordNanos) {
    static final Surroundings USUAL =
        new Surroundings(Map::of, RocksDatabase::open, FirstWord.WAIT_NANOS);
  }

  /**
   * Starts a datacenter. It serves clients once it has caught up with its peers.
   *
   * @throws OsierException CONFIGURATION if an address cannot be bound
   */
  public static Datacenter start(DatacenterConfig config) {
    return start(config, new StartWatch(System.nanoTime()), new Startup(), Map::of);
  }

  /**
   * As the other one. Where it fails, all that was opened is closed.
   *
   * @param watch is told what took how long; only until this returns
   * @param within may be told to stop, and then this ends with its next step
   * @param auditLost by reason, how many lines of the audit log did not come to its file; cheap
   * @throws OsierException CONFIGURATION if an address cannot be bound, and SHUTTING_DOWN if it was
   *     told to stop
   */
  public static Datacenter start(
      DatacenterConfig config,
      StartWatch watch,
      Startup within,
      Supplier<Map<String, Long>> auditLost) {
    Surroundings around = new Surroundings(auditLost, RocksDatabase::open, FirstWord.WAIT_NANOS);
    return start(config, false, watch, within, around);
  }

  private static Datacenter start(
      DatacenterConfig config,
      boolean embedded,
      StartWatch watch,
      Startup within,
      Surroundings around) {
    Startup parts = new Startup();
    try {
      return new Datacenter(config, embedded, watch, within, parts, around);
    } catch (Throwable e) {
      parts.close();
      throw e;
    }
  }

  /**
   * As {@link #start}, for callers in this process ({@link #inProcess}): where nothing is stored on
   * a disk, their threads run the partitions, and updates of {@code session} keyspaces that cannot
   * fail are joined before they come to one.
   */
  public static Datacenter startEmbedded(DatacenterConfig config) {
    StartWatch watch = new StartWatch(System.nanoTime());
    return start(config, true, watch, new Startup(), Surroundings.USUAL);
  }

  /** As {@link #start(DatacenterConfig)}, among what a test chooses. */
  static Datacenter start(DatacenterConfig config, Surroundings around) {
    StartWatch watch = new StartWatch(System.nanoTime());
    return start(config, false, watch, new Startup(), around);
  }

  private Datacenter(
      DatacenterConfig config,
      boolean embedded,
      StartWatch watch,
      Startup within,
      Startup parts,
      Surroundings around) {
    parts.opened(this::closeStore); // after all that may use it
    this.config = config;
    this.embedded = embedded;
    this.neighbours = new PeerDirectory(config.peers(), () -> failure.complete(null));
    this.links = new SharedWindows(config.streams().windowBytes());
    this.certificates =
        config.tls().map(Certificates::new).orElse(null); // wrong files: the first to say so
    tls().ifPresent(parts::opened);
    long wall = System.currentTimeMillis();
    long incarnationMin = Math.max(wall, config.incarnationMin());
    this.store =
        config.store().dir().isPresent()
            ? StoreService.open(
                config, incarnationMin, around.opener(), failure::completeExceptionally)
            : null;
    this.self =
        store == null ? new ReplicaId(config.dc(), incarnationMin) : store.database().self();
    watch.done("store", System.nanoTime());
    within.check();
    this.access = accessControl();
    this.traces =
        parts.opened(Traces.of(self, config.trace(), (dc, note) -> transport.note(dc, note)));
    this.keyspaces = new Keyspaces(aroundKeyspaces());
    parts.opened(this::stopPartitions);
    List<KeyspacePolicy> policies = new ArrayList<>(List.of(KeyspacePolicy.control()));
    policies.addAll(config.keyspaces());
    keyspaces.open(policies);
    within.check();
    this.control =
        new Control(
            config,
            self,
            keyspaces,
            neighbours,
            around.firstWordNanos(),
            () -> transport.keyspacesChanged(),
            config.users().isEmpty() ? List.of() : users.all(),
            this::setUsers);
    parts.opened(control);
    control.recover();
    watch.done("recovery", System.nanoTime());
    within.check();
    this.readiness = new Readiness(keyspaces.shown(), Optional.ofNullable(store));
    readiness.setSecond(keyspaces::second);
    readiness.setMembership(control::obstacles);
    readiness.setStanding(control::warnings);
    access.setKnown(this::isControlKnown);
    this.forwarding =
        new Forwarding(
            self.dc(),
            () -> transport,
            control::placement,
            keyspaces.shown(),
            config.forwardedBytes(),
            config.copies(),
            keyspaces::millis);
    this.transport = peerTransport(bearer());
    readiness.setSpoken(transport::spoken);
    parts.opened(transport);
    this.pubSub =
        new PubSub(
            MemoryPlan.ofThisProcess().subscriptionBytes(),
            new MessageRelay(
                () -> neighbours.addresses().keySet(),
                this::policyOf,
                (dc, note) -> transport.message(dc, note)));
    this.publisher = publisher(wall, around);
    parts.opened(publisher);
    Inspector inspector = new Inspector(keyspaces.shown(), publisher, Optional.ofNullable(store));
    this.reports =
        parts.opened(
            new Reports(
                self.dc(),
                publisher,
                inspector,
                neighbours,
                transport::note,
                name ->
                    keyspaces.shown().containsKey(name)
                        ? List.of()
                        : forwarding.holders(name).map(Forwarder.Held::dcs).orElse(List.of()),
                forwarding.copies()::answers,
                () -> announced().toString()));
    this.handler =
        requestHandler(
            inspector, Optional.of(forwarding.forwarder()), Optional.of(forwarding.copies()));
    forwarding.begin(requestHandler(inspector, Optional.empty(), Optional.empty()), access);
    this.clients = clientServer();
    parts.opened(clients);
    this.redis = config.redis().map(r -> parts.opened(redisPort(r))).orElse(null);
    this.admin = config.admin().map(this::adminServer).orElse(null);
    if (admin != null) {
      parts.opened(admin);
      clients.setPage(
          (adminTls().isPresent() ? "https://" : "http://")
              + HostPort.bound(admin.host(), admin.port())
              + "/");
    }
    within.check(); // for the last time: now it serves, and must be closed as one that does
    begin();
    watch.done("ports", System.nanoTime());
    sayWhatRuns();
  }

  private RequestHandler requestHandler(
      Inspector inspector, Optional<Forwarder> forwarder, Optional<Copies> copies) {
    return new RequestHandler(
        keyspaces.shown(),
        inspector,
        (request, by) -> request.asksWhy() ? reports.why(request) : control.administer(request, by),
        writeHelp(),
        this::isControlKnown,
        () -> neighbours.holding(control.placement().elsewhere(self.dc()), keyspaces.shown()),
        forwarder,
        copies);
  }

  private KeyspaceFactory.Around aroundKeyspaces() {
    return new KeyspaceFactory.Around(
        config,
        self,
        Optional.ofNullable(store),
        new KeyspaceFactory.Threads(
            readers(),
            store == null && embedded ? PendingAnswer::run : longAnswers::take,
            embedded),
        new KeyspaceFactory.Network(
            links,
            (to, keyspace, partition, frame) -> transport.send(to, keyspace, partition, frame),
            dc -> transport.knownVersion(dc)),
        traces,
        failure::completeExceptionally);
  }

  private PeerTransport peerTransport(PeerTransport.Bearer bearer) {
    PeerTransport bound =
        PortBinding.bind(
            "osier.listen.peer-port",
            config.host(),
            config.peerPort(),
            at ->
                new PeerTransport(
                    bearer,
                    at,
                    neighbours.addresses(),
                    keyspaces::fingerprints,
                    config.peerPortLimits(),
                    peerInputs(),
                    tls().map(Certificates::peers)));
    bound.compress(config.compressed());
    LOG.info("start {} of {}", Long.toHexString(bearer.start()), self);
    return bound;
  }

  private Publisher publisher(long startMillis, Surroundings around) {
    return new Publisher(
        new Publisher.Source(
            self,
            Build.ofThisProgram().toString(),
            startMillis,
            System::currentTimeMillis,
            keyspaces.shown(),
            transport,
            Optional.ofNullable(store),
            readiness,
            this::joining,
            () -> tls().<Map<String, Long>>map(Certificates::expiries).orElse(Map.of()),
            this::clientFigures,
            keyspaces::droppedUpdates,
            () -> auditLost(access.audit(), around.auditLost().get()),
            this::failedAttempts,
            traces::figures),
        Publisher.Limits.DEFAULT);
  }

  private ClientServer clientServer() {
    return PortBinding.bind(
        "osier.listen.client-port",
        config.host(),
        config.clientPort(),
        at ->
            new ClientServer(
                self,
                ClientServer.sockets(),
                at,
                config.clients(),
                config.userLimits(),
                MemoryPlan.ofThisProcess(),
                new RequestWatch(
                    new SlowLog(config.slowRequests().toNanos()), traces, System::nanoTime),
                tls().map(Certificates::clients),
                access,
                handler));
  }

  private RedisListener redisPort(RedisSettings settings) {
    return PortBinding.bind(
        "osier.listen.redis-port",
        config.host(),
        settings.port(),
        at ->
            new RedisListener(
                at,
                settings.databases(),
                self,
                clients,
                handler,
                pubSub,
                config.store().dir().isPresent()));
  }

  private AdminServer adminServer(AdminSettings settings) {
    return PortBinding.bind(
        "osier.admin.port",
        settings.host(),
        settings.port(),
        at ->
            new AdminServer(
                at,
                settings,
                adminTls(),
                access,
                publisher,
                readiness,
                reports.dashboard(),
                reports.history()));
  }

  /** All is there: lets the partitions run, and hears the others. */
  private void begin() {
    keyspaces.partitions().forEach(PartitionRunner::start);
    if (admin != null) {
      reports.everySecond();
    }
    if (store != null) {
      store
          .readers()
          .execute(
              new FormerRemovals(keyspaces, () -> closed, failure::completeExceptionally)::find);
    }
    if (isReadOnly()) {
      keyspaces.partitions().forEach(p -> p.submit(new Input.Retire()));
    } else {
      neighbours.begin(announced().toString(), transport, readiness, reports.dashboard());
      keyspaces.awaitPeers(); // to recover may have taken long
      transport.dial();
      control.start();
    }
    tls().ifPresent(Certificates::watch);
  }

  private void sayWhatRuns() {
    LOG.info(
        "datacenter {} serves clients on {} and peers on {}",
        self,
        new HostPort(config.host(), clients.port()),
        new HostPort(config.host(), transport.port()));
    if (redis != null) {
      LOG.info("clients of Redis are served on {}", new HostPort(config.host(), redis.port()));
    }
    if (admin != null) {
      LOG.info("metrics and the dashboard are at {}", new HostPort(admin.host(), admin.port()));
    }
    ProtectedMode.openTo(config)
        .ifPresent(
            open ->
                LOG.warn(
                    "osier.insecure = true: {}: whoever reaches this machine can read and change"
                        + " everything",
                    open));
    LOG.info("configuration: {}; all else is as osier-reference.conf has it", config);
    LOG.info("memory: {}", MemoryPlan.ofThisProcess().division(config));
  }

  private PeerListener peerInputs() {
    if (isReadOnly()) {
      return new DeafInputs(forwarding);
    }
    return new PeerInputs(
        keyspaces,
        readiness,
        this::throwsAway,
        this::noted,
        failure::completeExceptionally,
        writeHelp(),
        forwarding);
  }

  /**
   * Whether its disk was full at the start: it answers reads, takes no updates and hears no other
   * datacenter. When there is room again {@link #failure} completes, with STORE_FULL: then it is to
   * be closed, and started anew.
   */
  public boolean isReadOnly() {
    return store != null && store.isReadOnly();
  }

  /** One that hears nobody waits for nobody's word. */
  private boolean isControlKnown() {
    return isReadOnly() || control.isKnown();
  }

  /** What reads objects that are not in memory, and walks many that are. */
  private Executor readers() {
    if (store != null) {
      return store.readers();
    }
    return embedded ? Runnable::run : scanners;
  }

  private AccessControl accessControl() {
    DecoyCredentials decoys = new DecoyCredentials(LoginSecret.of(config.store().dir()));
    if (!config.users().isEmpty()) {
      users = new Users(config.users().stream().map(u -> u.user(decoys.salt(u.name()))).toList());
    }
    return new AccessControl(() -> users, config.cluster(), decoys, new AuditLog(config.dc()));
  }

  /** From now on these are all users, for open connections, too. */
  void setUsers(Users all) {
    users = all;
  }

  private PeerTransport.Bearer bearer() {
    List<Long> starts =
        store == null
            ? List.of(new SecureRandom().nextLong(1, Long.MAX_VALUE))
            : store.database().starts();
    return new PeerTransport.Bearer(
        self, config.cluster(), starts.getFirst(), starts.subList(1, starts.size()));
  }

  private Optional<TlsContext> adminTls() {
    return config.tls().filter(TlsSettings::admin).flatMap(t -> tls()).map(Certificates::clients);
  }

  private Optional<Certificates> tls() {
    return Optional.ofNullable(certificates);
  }

  private Optional<Snapshot.Joining> joining() {
    return control
        .joining()
        .lastCatchUp()
        .map(
            c ->
                new Snapshot.Joining(
                    c.complete(),
                    c.partitions(),
                    c.objects(),
                    c.objectsThere(),
                    c.bytes(),
                    c.secondsLeft()));
  }

  /** What became of requests for keyspaces that others hold. */
  public Snapshot.Elsewhere elsewhere() {
    return forwarding.counts();
  }

  private Snapshot.Clients clientFigures() {
    if (clients == null) {
      return Snapshot.Clients.NONE;
    }
    PubSub.Figures f = pubSub.figures();
    return clients
        .figures()
        .with(
            new Snapshot.Messages(
                f.subscribers(),
                f.published(),
                f.received(),
                Map.of("subscriber", f.droppedHere(), "peer", f.droppedThere())),
            forwarding.counts());
  }

  private static Map<String, Long> auditLost(AuditLog audit, Map<String, Long> before) {
    Map<String, Long> all = new TreeMap<>(before);
    all.put("flood", audit.leftOut());
    return all;
  }

  /** Asked of each frame that brings something: it is thrown away while the disk is full. */
  private boolean throwsAway() {
    boolean full = store != null && store.disk().isFull();
    if (full) {
      thrownAway.increment();
    }
    return full;
  }

  private Map<String, Long> failedAttempts() {
    Map<String, Long> all = new TreeMap<>(control.failedAttempts());
    all.put("frames", transport.notEncoded());
    tls().ifPresent(certificates -> all.put("certificates", certificates.failed()));
    if (store != null) {
      all.put("store", store.failedAttempts());
      all.put("peers", thrownAway.sum());
    }
    return all;
  }

  private GroupCommitHelp writeHelp() {
    return store == null ? GroupCommitHelp.NONE : store.writer().help();
  }

  /** How others reach the port for clients. */
  private HostPort announced() {
    HostPort said = config.announced();
    return said.port() > 0 ? said : new HostPort(said.host(), clients.port());
  }

  private void stopPartitions() {
    keyspaces.endWatching();
    keyspaces.partitions().forEach(PartitionRunner::stop);
  }

  private void closeStore() {
    longAnswers.close(); // while what they read is there
    scanners.shutdown();
    if (store != null) {
      store.close();
    }
  }

  /** Another datacenter has sent a note. */
  private void noted(ReplicaId peer, byte[] content) {
    if (Traces.isNote(content)) {
      traces.noted(peer, content);
      return;
    }
    if (PublishNote.isOne(content)) {
      published(peer, content);
      return;
    }
    Reports to = reports;
    if (to != null
        && !control.joining().noted(peer.dc(), content)) { // while everything is being started
      to.noted(peer.dc(), content);
    }
  }

  /** A client of another datacenter has published something. */
  private void published(ReplicaId peer, byte[] note) {
    PubSub to = pubSub;
    try {
      if (to != null) { // while everything is being started
        to.received(note);
      }
    } catch (MalformedException e) {
      LOG.debug("{} sends a note that cannot be read", peer, e);
    }
  }

  private @Nullable KeyspacePolicy policyOf(String keyspace) {
    KeyspaceShard of = keyspaces.find(keyspace);
    return of == null ? null : of.policy();
  }

  /** How a keyspace behaves at present. */
  public KeyspacePolicy policy(String keyspace) {
    return requireNonNull(keyspaces.find(keyspace), keyspace).policy();
  }

  /** See {@link Keyspaces#droppedUpdates}. */
  long droppedUpdates() {
    return keyspaces.droppedUpdates();
  }

  /** By peer, what was sent and not acknowledged, in bytes. */
  public Map<String, Long> inFlightBytes() {
    return links.inFlightBytes();
  }

  /** The keyspaces of which the store has something, as it calls them. */
  public Set<String> stored() {
    return store == null ? Set.of() : store.database().keyspaces();
  }

  /** Who this is. */
  public ReplicaId replica() {
    return self;
  }

  /** This datacenter for clients in the same process: {@code OsierClient.inProcess}. */
  public InProcess inProcess() {
    return new LocalAccess(self, handler, traces, () -> !closed, store != null);
  }

  /** The port for clients. */
  public int clientPort() {
    return clients.port();
  }

  /** The port for metrics, health and the dashboard; empty if there is none. */
  public OptionalInt adminPort() {
    return admin == null ? OptionalInt.empty() : OptionalInt.of(admin.port());
  }

  /** The port for clients that speak the Redis protocol; empty if there is none. */
  public OptionalInt redisPort() {
    return redis == null ? OptionalInt.empty() : OptionalInt.of(redis.port());
  }

  /** The port for other datacenters. */
  public int peerPort() {
    return transport.port();
  }

  /**
   * Whether every partition serves commands, and updates are taken: it neither joins nor leaves.
   */
  public boolean isReady() {
    return !isReadOnly()
        && control.obstacles().isEmpty()
        && keyspaces.partitions().allMatch(PartitionRunner::isReady);
  }

  /**
   * What keeps the datacenter from doing all that it is there for, in words: it is catching up, its
   * disk is full, or every peer refuses a keyspace; empty if nothing does.
   */
  public List<String> obstacles() {
    return readiness.obstacles();
  }

  /** What does not work although the datacenter is ready, in words. */
  List<String> warnings() {
    return readiness.warnings();
  }

  /**
   * Completes exceptionally if the datacenter cannot go on, and normally when it has left the
   * cluster; the process should then close it.
   */
  public CompletableFuture<Void> failure() {
    return failure;
  }

  /**
   * Shuts down gracefully: refuses commands, ships everything that waits, waits for the peers to
   * acknowledge it for at most the configured time, closes.
   */
  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    closed = true;
    control.close(); // nothing is opened or dropped any more
    List<PartitionRunner> all = keyspaces.partitions().toList();
    keyspaces.endWatching();
    all.forEach(PartitionRunner::refuse); // each ships what it holds once its queue is empty
    boolean interrupted =
        new Drain(
                config.shutdownTimeout(),
                failure,
                () -> !neighbours.addresses().isEmpty() && transport.connected() == 0,
                store != null)
            .await(all);
    interrupted |= Thread.interrupted();
    try {
      all.forEach(PartitionRunner::stop);
      publisher.close(); // before what it reads
      closeStore();
      if (redis != null) {
        redis.close();
      }
      forwarding.close();
      clients.close();
      transport.close();
      reports.close();
      if (admin != null) {
        admin.close();
      }
      traces.close();
      tls().ifPresent(Certificates::close);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    LOG.info("datacenter {} is closed", self);
  }
}
