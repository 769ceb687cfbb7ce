package io.osier.bench.sim.node;

import static java.util.Objects.requireNonNull;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.copies.SimCopies;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.copies.FollowCodec;
import io.osier.datacenter.forward.ForwardedRequest;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.AuditLog;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.frontend.ForwardedRequests;
import io.osier.datacenter.frontend.Scripts;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Forwards the requests of a datacenter's clients to holders by production's forwarder, and answers
 * the requests that other datacenters forward, over production's transport. The reply that a holder
 * makes is shown to the listener at the datacenter that has forwarded the request, as if its client
 * had asked the holder itself.
 */
final class SimForwarding implements ForwardingHost, ClientService {
  private static final long BUDGET_BYTES = 64 << 20;
  private static final int LIVES_MAX = 1_000;

  /** Users who may do everything: each life of a datacenter forwards as one of them. */
  private static final Users LIVES =
      new Users(
          IntStream.rangeClosed(1, LIVES_MAX)
              .mapToObj(life -> new User(Integer.toString(life), Optional.empty(), everything()))
              .toList());

  private static List<Grant> everything() {
    return Arrays.stream(Grant.Right.values()).map(Grant::onAll).toList();
  }

  /**
   * The name by which holders know a forwarded request.
   *
   * @param life of the datacenter that asks, which it names as the user
   * @param id of the request, which no other one of that life has
   */
  private record Name(String life, long id) {}

  /** One request that a client has sent once. */
  private static final class Forwarded {
    final WitnessedMachine.ReplyListener listener;

    /** The reply that a holder has made; null before. */
    @Nullable Reply made;

    /** Lets the reply go to the client; null before it is made. */
    @Nullable Runnable then;

    Forwarded(WitnessedMachine.ReplyListener listener) {
      this.listener = listener;
    }
  }

  private final Simulation simulation;
  private final SimDc dc;

  private final Map<Name, Forwarded> forwarded = new HashMap<>();

  /** By client; of the present life. */
  private final IdentityHashMap<Object, OrderedQueue> lanes = new IdentityHashMap<>();

  /** Keyspaces of which requests were forwarded in the present life. */
  private final Set<String> forwards = new HashSet<>();

  // Null before the first start.
  private @Nullable Forwarder forwarder;
  private @Nullable ForwardedRequests requests;

  /** Null before the first start, and in runs without copies. */
  private @Nullable SimCopies copies;

  /** The request that is about to be sent to a holder; null if none is. */
  private @Nullable Forwarded asks;

  /** The forwarded request that is being handled; null if none is, or if it has no listener. */
  private @Nullable Forwarded asked;

  SimForwarding(Simulation simulation, SimDc dc) {
    this.simulation = simulation;
    this.dc = dc;
  }

  /** A process begins. */
  void starts() {
    String self = dc.self().dc();
    Executor beside = task -> later(task, 1);
    lanes.clear();
    forwards.clear();
    forwarder =
        new Forwarder(
            self, this, new ByteBudget(BUDGET_BYTES), simulation.scheduler()::nanos, beside);
    AccessControl access =
        new AccessControl(
            () -> LIVES,
            "sim",
            new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
            new AuditLog(self),
            simulation.scheduler()::nanos,
            () -> "never used");
    requests =
        new ForwardedRequests(
            self, this, access, Scripts.NONE, new ByteBudget(BUDGET_BYTES), beside);
    copies =
        simulation.profile().has(Feature.COPIES)
            ? new SimCopies(simulation, dc, forwarder(), this, () -> dc.now().millis())
            : null;
  }

  Forwarder forwarder() {
    return requireNonNull(forwarder, "it was started");
  }

  /** The connection to a datacenter is lost. */
  void down(String peer) {
    forwarder().down(peer);
    if (copies != null) {
      copies.down(peer);
    }
  }

  private ForwardedRequests requests() {
    return requireNonNull(requests, "it was started");
  }

  // ---------------------------------------------------------------- what its clients ask

  /** Handles a client's request for a unit that this datacenter does not hold. */
  void command(Unit unit, Object client, Request request, WitnessedMachine.ReplyListener listener) {
    if (request instanceof Request.Ping) {
      listener.made(null, new Reply.Pong()).run();
      return;
    }
    if (request instanceof Request.Read read && sabotage().answersForOthers()) {
      listener.made(null, nothing(read)).run();
      return;
    }
    if (request instanceof Request.Read read && !read.after().isEmpty() && sabotage().tellsLost()) {
      listener.made(null, new Reply.Failure(ErrorCode.SESSION_LOST, "nothing is lost")).run();
      return;
    }
    if (dc.control().isUnsure()) {
      listener.made(null, new Reply.Failure(ErrorCode.UNAVAILABLE, "it has just started")).run();
      return;
    }
    forwards.add(unit.policy().name());
    OrderedQueue lane = lanes.computeIfAbsent(client, c -> new OrderedQueue());
    lane.goesElsewhere(unit.policy().name());
    Reply copied =
        copies != null && request instanceof Request.Read read
            ? copies.answer(unit, read, lane)
            : null;
    if (copied != null) {
      listener.made(null, copied).run();
      return;
    }
    Forwarded one = new Forwarded(listener);
    asks = one;
    boolean isKnown =
        forwarder()
            .forward(request, lane, life(), reply -> told(unit, client, request, one, reply));
    asks = null;
    if (!isKnown) {
      throw new Violation(unit, "%s does not know who holds %s", dc.self(), unit);
    }
  }

  /**
   * A client's request in a unit that is held here by now, as it is done here.
   *
   * @return null if it must be done elsewhere, as what the client has under way
   */
  @Nullable Request here(Unit unit, Object client, Request request) {
    OrderedQueue lane = lanes.get(client);
    String keyspace = unit.policy().name();
    boolean was = lane != null && lane.hasGoneElsewhere(keyspace) && !sabotage().forgetsElsewhere();
    if (request instanceof Request.Ping || !(was || request instanceof Request.Repeat)) {
      return request;
    }
    Object by = lane == null ? client : lane;
    return forwarder().here(request, keyspace, unit.policy().partitioning(), by);
  }

  /** Whether requests for a unit were forwarded in the present life. */
  boolean hasForwarded(Unit unit) {
    return forwards.contains(unit.policy().name());
  }

  private String life() {
    return Long.toString(dc.life());
  }

  private static Reply nothing(Request.Read read) {
    CrdtType type = read.type().orElse(CrdtType.PN_COUNTER);
    Reading empty = CrdtState.bottom(type).read(read.query());
    return new Reply.Answer(Optional.of(type), Optional.of(empty), false, VersionVector.EMPTY);
  }

  /** The forwarder answers a client. */
  private void told(Unit unit, Object client, Request request, Forwarded one, Reply reply) {
    boolean isRefusal = reply instanceof Reply.Failure;
    Reply stale =
        one.then == null && request instanceof Request.Read read
            ? stale(client, unit, read, reply)
            : null;
    if (stale != null) {
      one.listener.made(null, stale).run();
    } else if (one.then != null && isRefusal == one.made instanceof Reply.Failure) {
      one.then.run();
    } else if (!isRefusal) {
      throw new Violation(unit, "%s answers by itself: %s", dc.self(), reply);
    } else if (((Reply.Failure) reply).code() == ErrorCode.TIMEOUT
        && request instanceof Request.Write
        && sabotage().asksTwice()) {
      command(unit, client, request, one.listener);
    } else {
      one.listener.made(null, reply).run(); // a holder may yet do it
    }
  }

  /** The answer of a copy where no holder can be asked; null if no copy answers. */
  private @Nullable Reply stale(Object client, Unit unit, Request.Read read, Reply reply) {
    OrderedQueue lane = lanes.get(client);
    return copies != null
            && lane != null
            && reply instanceof Reply.Failure f
            && f.code() == ErrorCode.UNAVAILABLE
        ? copies.stale(unit, read, lane)
        : null;
  }

  private Sabotage sabotage() {
    return simulation.options().sabotage();
  }

  // ---------------------------------------------------------------- for the forwarder

  @Override
  public Optional<ForwardingHost.Held> holders(String keyspace) {
    Unit unit = simulation.unit(keyspace, 0);
    List<String> others =
        dc.control().serving(unit.policy()).stream()
            .filter(name -> !name.equals(dc.self().dc()))
            .toList();
    return Optional.of(new ForwardingHost.Held(others, unit.policy().partitioning(), "file"));
  }

  @Override
  public VersionVector shownBefore(String keyspace, int partition) {
    SimNode node = dc.held().find(simulation.unit(keyspace, partition));
    return node == null ? VersionVector.EMPTY : node.shown().orElse(VersionVector.EMPTY);
  }

  @Override
  public boolean mayAsk(String of) {
    PeerTransport transport = dc.transport();
    return transport != null && transport.mayAsk(of);
  }

  @Override
  public boolean ask(String of, byte[] content) {
    simulation.trace().hash(content);
    if (asks != null) {
      forwarded.put(new Name(life(), ForwardedRequest.decode(content).id()), asks);
      asks = null;
    }
    boolean sent = requireNonNull(dc.transport(), "it may be asked").ask(of, content);
    run();
    return sent;
  }

  @Override
  public void later(Runnable task, long millis) {
    requireNonNull(dc.sockets(), "it was started").later(task, millis);
  }

  /** Lets the connections send what they were given. */
  private void run() {
    requireNonNull(dc.sockets(), "it was started").run();
  }

  // ---------------------------------------------------------------- what others ask

  /** Another datacenter asks. */
  void asked(ReplicaId peer, byte[] content, PeerListener.Answers answers) {
    ForwardedRequest by = ForwardedRequest.decode(content);
    PeerListener.Answers goes =
        (answer, left) -> {
          simulation.trace().hash(answer);
          answers.send(answer, left);
          run();
        };
    if (copies != null && FollowCodec.isOfThese(by.request())) {
      copies.asked(peer, by, goes);
      return;
    }
    asked = simulation.dc(peer.dc()).forwarding().forwarded.get(new Name(by.user(), by.id()));
    try {
      requests().asked(peer, PeerVersions.NEWEST, content, goes);
    } finally {
      asked = null;
    }
  }

  /** All requests that another datacenter has sent so far have been taken. */
  void askedAll(ReplicaId peer) {
    requests().receivedAll(peer);
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return List.of(); // nobody greets here
  }

  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    Forwarded one = asked;
    Unit unit = simulation.unit(request);
    if (!dc.serves(unit)) {
      reply.accept(new Reply.Failure(ErrorCode.UNKNOWN_KEYSPACE, "not here"));
      return;
    }
    dc.node(unit)
        .command(
            lane,
            sabotage().forwarded(request),
            (at, made) -> {
              if (one != null) {
                one.then = one.listener.made(at, made);
                one.made = made;
              }
              return () -> reply.accept(made);
            });
  }

  @Override
  public void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply) {
    throw new IllegalArgumentException("nobody administers here: " + request);
  }
}
