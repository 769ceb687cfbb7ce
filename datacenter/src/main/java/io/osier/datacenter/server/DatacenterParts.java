package io.osier.datacenter.server;

import io.osier.core.KeyspacePolicy;
import io.osier.core.ReplicaId;
import io.osier.core.net.Sockets;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.DatacenterConfig;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.control.execution.Control;
import io.osier.datacenter.control.execution.StartupWaitRule;
import io.osier.datacenter.copies.Copies;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.RequestHandler;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.metrics.report.Inspector;
import io.osier.datacenter.metrics.report.Publisher;
import io.osier.datacenter.metrics.report.Readiness;
import io.osier.datacenter.redis.pubsub.PubSub;
import io.osier.datacenter.redis.server.ElsewhereQueued;
import io.osier.datacenter.shard.KeyspaceFactory;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.Keyspaces;
import io.osier.datacenter.shard.StoreService;
import io.osier.datacenter.shard.agent.PartitionRunner;
import io.osier.datacenter.store.rocks.RocksDatabase;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.ProcessIdentity;
import io.osier.propagation.net.SharedWindows;
import io.osier.protocol.Reply;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes the parts of one datacenter and connects them: each part is made after those that it uses.
 * Some parts also use later ones, but only once the datacenter runs ({@link Datacenter}).
 */
final class DatacenterParts {
  private static final Logger LOG = LoggerFactory.getLogger(Datacenter.class);

  private final DatacenterConfig config;
  private final @Nullable Certificates certificates; // null if nothing is encrypted
  private volatile Users users = Users.OPEN;
  private final AccessControl access;
  private final PubSub pubSub;
  private final PeerNotes notes;
  final ReplicaId self;

  /** See {@link Datacenter#failure}. */
  final CompletableFuture<Void> failure = new CompletableFuture<>();

  final Storage storage;
  final SharedWindows links;
  final PeerDirectory neighbours;
  final Keyspaces keyspaces;
  final Control control;
  final Traces traces;
  final Readiness readiness;
  final Forwarding forwarding;
  final Publisher publisher;
  final Reports reports;
  final RequestHandler handler;

  // Not final: they are null while earlier parts are made, which use them later.
  PeerTransport transport;
  ClientPorts ports;

  /**
   * The surroundings of a datacenter.
   *
   * @param auditLost returns how many lines of the audit log were not written to its file, by
   *     reason
   * @param opener opens the store
   * @param startupWaitNanos how long the control plane waits for reachable peers before it relies
   *     on what it has stored
   */
  record Surroundings(
      Supplier<Map<String, Long>> auditLost, StoreService.Opener opener, long startupWaitNanos) {
    static final Surroundings USUAL =
        new Surroundings(Map::of, RocksDatabase::open, StartupWaitRule.WAIT_NANOS);
  }

  /**
   * Makes all parts and opens the store and the ports; nothing runs yet.
   *
   * @param embedded whether callers are in this process: see {@link Datacenter#startEmbedded}
   * @param watch is told how long each phase took
   * @param within is checked between steps, and may stop the start
   * @param opened is told all parts that must be closed if this fails
   */
  DatacenterParts(
      DatacenterConfig config,
      boolean embedded,
      StartWatch watch,
      Startup within,
      Startup opened,
      Surroundings around) {
    this.config = config;
    this.neighbours = new PeerDirectory(config.peers(), () -> failure.complete(null));
    this.links = new SharedWindows(config.streams().windowBytes());
    this.certificates =
        config.tls().map(Certificates::new).orElse(null); // wrong files are reported first
    tls().ifPresent(opened::opened);
    long wall = System.currentTimeMillis();
    long incarnationMin = Math.max(wall, config.incarnationMin());
    this.storage =
        new Storage(
            config, embedded, incarnationMin, around.opener(), failure::completeExceptionally);
    opened.opened(storage); // a failed start closes it last
    this.self = storage.self();
    watch.done("store", System.nanoTime());
    within.check();
    this.access = accessControl();
    this.traces =
        opened.opened(Traces.of(self, config.trace(), (dc, note) -> transport.note(dc, note)));
    this.keyspaces = new Keyspaces(aroundKeyspaces(embedded));
    opened.opened(this::stopPartitions);
    keyspaces.open(List.of(KeyspacePolicy.control()));
    within.check();
    this.control =
        new Control(
            config,
            self,
            keyspaces,
            neighbours,
            around.startupWaitNanos(),
            () -> transport.keyspacesChanged(),
            config.users().isEmpty() ? List.of() : users.all(),
            this::setUsers);
    opened.opened(control);
    control.recover();
    if (storage.isReadOnly()) {
      keyspaces.awaitHolders(false); // it will not hear its peers
    }
    keyspaces.open(control.beginConfigured());
    watch.done("recovery", System.nanoTime());
    within.check();
    this.readiness = new Readiness(keyspaces.shown(), storage.store());
    readiness.setSecond(keyspaces::second);
    readiness.setMembership(control::obstacles);
    readiness.setStanding(control::warnings);
    readiness.setUnreachable(neighbours::unreachable);
    access.setKnown(this::isControlKnown);
    this.forwarding =
        opened.opened(
            new Forwarding(
                self.dc(),
                () -> transport,
                control::placement,
                keyspaces.shown(),
                keyspaces::shownBefore,
                config.forwardedBytes(),
                config.copies(),
                keyspaces::millis));
    this.pubSub =
        new PubSub(
            MemoryPlan.ofThisProcess().subscriptionBytes(),
            new MessageRelay(
                () -> neighbours.addresses().keySet(),
                this::policiesOf,
                (dc, note) -> transport.message(dc, note)));
    this.notes = new PeerNotes(traces, control, pubSub);
    this.transport = peerTransport();
    readiness.setSpoken(transport::spoken);
    opened.opened(transport);
    this.publisher = publisher(wall, around);
    opened.opened(publisher);
    var unused = publisher.listen(readiness.clocks());
    Inspector inspector = new Inspector(keyspaces.shown(), publisher, storage.store());
    this.reports =
        opened.opened(
            new Reports(
                self.dc(),
                publisher,
                inspector,
                neighbours,
                transport::note,
                name ->
                    keyspaces.shown().containsKey(name)
                        ? List.of()
                        : forwarding.holders(name).map(ForwardingHost.Held::dcs).orElse(List.of()),
                forwarding.copies()::answers,
                () -> ports.announced().toString()));
    this.handler =
        requestHandler(
            inspector, Optional.of(forwarding.forwarder()), Optional.of(forwarding.copies()));
    handler.hearBy(forwarding.changes());
    handler.countIn(control.loads().counters());
    control
        .loads()
        .begin(
            () -> forwarding.wayMillis(neighbours.addresses().keySet()),
            storage::roomBytes,
            (command, outcome) ->
                access
                    .audit()
                    .administered("placement", "datacenter " + self.dc(), command, outcome));
    RequestHandler here = requestHandler(inspector, Optional.empty(), Optional.empty());
    forwarding.begin(
        here,
        access,
        new ElsewhereQueued(here::partitioning, System::currentTimeMillis, new SecureRandom()));
    this.ports =
        new ClientPorts(
            config,
            self,
            opened,
            tls().map(Certificates::clients),
            access,
            traces,
            handler,
            pubSub);
    ports.openAdmin(opened, publisher, readiness, reports);
    notes.setReports(reports); // reports need the client port
  }

  private RequestHandler requestHandler(
      Inspector inspector, Optional<Forwarder> forwarder, Optional<Copies> copies) {
    return new RequestHandler(
        keyspaces.shown(),
        inspector,
        (request, by) -> request.asksWhy() ? reports.why(request) : control.administer(request, by),
        storage.writeHelp(),
        () -> storage.isReadOnly() ? Optional.empty() : control.unknownKeyspaces(),
        heldElsewhere(),
        forwarder,
        copies);
  }

  private RequestHandler.Others heldElsewhere() {
    return new RequestHandler.Others() {
      @Override
      public Reply.Keyspaces all(Set<String> open) {
        return neighbours.holding(control.placement().elsewhere(self.dc()), open);
      }

      @Override
      public Optional<Reply.KeyspaceInfo> find(String keyspace) {
        return control
            .placement()
            .find(keyspace)
            .map(Placement.Placed::policy)
            .filter(policy -> !policy.heldBy(self.dc()))
            .map(Reply.KeyspaceInfo::of);
      }
    };
  }

  private KeyspaceFactory.Around aroundKeyspaces(boolean embedded) {
    return new KeyspaceFactory.Around(
        config,
        self,
        storage.store(),
        new KeyspaceFactory.Threads(storage.readers(), storage.answers(), embedded),
        new KeyspaceFactory.Network(
            links,
            (to, keyspace, partition, frame) -> transport.send(to, keyspace, partition, frame),
            dc -> transport.knownVersion(dc)),
        traces,
        failure::completeExceptionally);
  }

  private PeerTransport peerTransport() {
    List<Long> starts = storage.starts();
    ProcessIdentity process =
        new ProcessIdentity(
            self, config.cluster(), starts.getFirst(), starts.subList(1, starts.size()));
    PeerTransport bound =
        PortBinding.bind(
            "osier.listen.peer-port",
            config.host(),
            config.peerPort(),
            at ->
                new PeerTransport(
                    process,
                    at,
                    neighbours.addresses(),
                    keyspaces::fingerprints,
                    config.peerPortLimits(),
                    peerInputs(),
                    tls().map(Certificates::peers),
                    Sockets.of("osier-peers", 1)));
    bound.compress(config.compressed());
    LOG.info("start {} of {}", Long.toHexString(process.start()), self);
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
            storage.store(),
            readiness,
            () -> OwnFigures.joining(control),
            () -> tls().<Map<String, Long>>map(Certificates::expiries).orElse(Map.of()),
            () ->
                ports == null
                    ? Snapshot.Clients.NONE
                    : OwnFigures.clients(ports.clients(), pubSub, forwarding, control.loads()),
            keyspaces::droppedUpdates,
            () -> OwnFigures.auditLost(access.audit(), around.auditLost().get()),
            () -> OwnFigures.failedAttempts(control, transport, tls(), storage),
            traces::figures),
        Publisher.Limits.DEFAULT);
  }

  private PeerListener peerInputs() {
    if (storage.isReadOnly()) {
      return new DeafInputs(forwarding);
    }
    return new PeerInputs(
        keyspaces,
        readiness,
        storage::throwsAway,
        notes::noted,
        failure::completeExceptionally,
        storage.writeHelp(),
        forwarding);
  }

  /**
   * Returns whether the control plane is known; a read-only datacenter does not wait for its peers.
   */
  private boolean isControlKnown() {
    return storage.isReadOnly() || control.isKnown();
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

  Optional<Certificates> tls() {
    return Optional.ofNullable(certificates);
  }

  private void stopPartitions() {
    keyspaces.endWatching();
    keyspaces.partitions().forEach(PartitionRunner::stop);
  }

  /** See {@link MessageRelay}. */
  private List<KeyspacePolicy> policiesOf(String keyspace) {
    Placement all = control.placement();
    List<String> homes =
        all.find(keyspace)
            .map(placed -> placed.policy().partitioning().homes().keyspaces(keyspace))
            .orElse(List.of(keyspace));
    List<KeyspacePolicy> policies = new ArrayList<>();
    boolean holdsOne = false;
    for (String home : homes) {
      KeyspaceShard here = keyspaces.find(home);
      holdsOne |= here != null;
      if (here != null) {
        policies.add(here.policy());
      } else {
        all.find(home).ifPresent(placed -> policies.add(placed.policy()));
      }
    }
    return holdsOne ? policies : List.of();
  }
}
