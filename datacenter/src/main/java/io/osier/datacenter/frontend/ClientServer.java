package io.osier.datacenter.frontend;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.net.ByteBudget;
import io.osier.core.net.Network;
import io.osier.core.net.Sockets;
import io.osier.core.tls.TlsContext;
import io.osier.datacenter.access.DecoyCredentials;
import io.osier.datacenter.access.Users;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.config.UserLimits;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.propagation.net.link.PortGuard;
import io.osier.propagation.net.link.PortLimits;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import java.net.InetSocketAddress;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes clients' connections ({@link ClientConnection}) and hands their requests to the keyspaces.
 *
 * <p>A client that sends and does not read must not fill the memory: beyond its {@link AnswerShare}
 * its requests are left in the network, or their answers are given up; if too much waits for all
 * clients together, the client for which most waits is disconnected. All requests share a budget
 * until they are answered, large ones already while they come; beyond it they are refused. {@link
 * UserQuotas} bounds what one user has of all this.
 */
public final class ClientServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientServer.class);

  /** How often slow readers, and changes of the users, are looked for. */
  private static final long LOOK_MILLIS = 100;

  private static final int THREADS = 2;

  /** The interval of TCP keep-alive, by which the system notices that a silent client is gone. */
  private static final int KEEPALIVE_SECONDS = 60;

  /** The handler of one connection, in its pipeline. For the channel's loop. */
  public interface Visitor extends ChannelHandler {
    /** Returns the guard, which stands before this in the pipeline. */
    ConnectionGuard guard();

    /** Closes the connection if its user no longer exists. */
    void closeIfGone();

    /**
     * Returns the bytes of answers that wait here and not in the channel, about. For any thread.
     */
    long waitingBytes();
  }

  /** The protocol of a port. Thread-safe. */
  public interface Protocol {
    /**
     * Returns the handler of a new connection.
     *
     * @param requests makes the requests of the connection, with its buffer; called once
     */
    Visitor open(Channel channel, Function<ClientRequests.Room, ClientRequests> requests);

    /** Returns the message for a connection that is one too many. */
    ByteBuf refusal(ByteBufAllocator alloc, String why);
  }

  private volatile Optional<String> page = Optional.empty();
  private final Network network;
  private final ChannelGroup connected = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

  /** The most bytes of answers that may wait for all clients together. */
  private final long waitingBytesMax;

  private final WriteBufferWaterMark unsentMarks;

  /** Whether {@link #look} is planned; it is not while no client is connected. */
  private final AtomicBoolean looking = new AtomicBoolean();

  private final ExcessConnections excess = new ExcessConnections();
  private final ClientRequests.Shared shared;
  private final Optional<TlsContext> tls;
  private final Network.Port server;

  /** The ports of other protocols. */
  private final List<Network.Port> others = new CopyOnWriteArrayList<>();

  /** The users at the last look. */
  private Users seen;

  /**
   * Listens.
   *
   * @param network is closed with this, and if this cannot be made
   */
  public ClientServer(
      ReplicaId self,
      Network network,
      InetSocketAddress listen,
      PortLimits limits,
      UserLimits userLimits,
      MemoryPlan memory,
      RequestWatch watch,
      Optional<TlsContext> tls,
      AccessControl access,
      ClientService handler) {
    this.seen = access.users();
    this.network = network;
    PortGuard port = new PortGuard("osier.listen.client-connections: the client port", limits);
    this.waitingBytesMax = memory.answerBytes() / 2;
    int high = memory.unsentBytes(limits.connectionsMax());
    this.unsentMarks = new WriteBufferWaterMark(high / 4, high);
    ByteBudget requestBytes = new ByteBudget(memory.requestBytes());
    ByteBudget answerBytes = new ByteBudget(memory.answerBytes());
    UserQuotas quotas = new UserQuotas(userLimits, access::users, requestBytes);
    this.shared =
        new ClientRequests.Shared(
            self, handler, access, port, requestBytes, answerBytes, quotas, watch);
    this.tls = tls;
    try {
      this.server = network.listen(listen, channel -> opened(channel, new Own()));
    } catch (Throwable e) {
      network.close();
      throw e;
    }
  }

  /** The protocol of Osier's own clients. */
  private final class Own implements Protocol {
    @Override
    public Visitor open(Channel channel, Function<ClientRequests.Room, ClientRequests> requests) {
      return new ClientConnection(channel, shared, () -> page);
    }

    @Override
    public ByteBuf refusal(ByteBufAllocator alloc, String why) {
      byte[] answer = ProtocolCodec.encode(0, new Reply.Failure(ErrorCode.OVERLOADED, why));
      return alloc.buffer(Integer.BYTES + answer.length).writeInt(answer.length).writeBytes(answer);
    }
  }

  /**
   * Listens at one more port, for another protocol; all ports share the limits.
   *
   * @return the port, which is closed with this
   */
  public Network.Port listen(InetSocketAddress at, Protocol protocol) {
    Network.Port more = network.listen(at, channel -> opened(channel, protocol));
    others.add(more);
    return more;
  }

  /**
   * Opens a port without TLS and logs, and otherwise as in production, for virtual time.
   *
   * @param network is closed with the server, and if that cannot be made; the nonces of logins are
   *     drawn from its random numbers
   * @param nanoTime a monotonic clock
   * @param users returns the present users
   */
  public static ClientServer open(
      ReplicaId self,
      Network network,
      InetSocketAddress listen,
      PortLimits limits,
      MemoryPlan memory,
      LongSupplier nanoTime,
      Supplier<Users> users,
      ClientService handler) {
    return new ClientServer(
        self,
        network,
        listen,
        limits,
        UserLimits.NONE,
        memory,
        new RequestWatch(new SlowLog(0), Traces.OFF, nanoTime),
        Optional.empty(),
        new AccessControl(
            users,
            "osier",
            new DecoyCredentials(new byte[DecoyCredentials.SECRET_BYTES]),
            new AuditLog(self.dc()),
            nanoTime,
            AccessControl.nonces(network.random())),
        handler);
  }

  /** Returns the network of a server in production. */
  public static Network sockets() {
    return Sockets.of("osier-clients", THREADS, KEEPALIVE_SECONDS);
  }

  private void opened(Channel channel, Protocol protocol) {
    channel.config().setWriteBufferWaterMark(unsentMarks);
    tls.ifPresent(
        t ->
            channel
                .pipeline()
                .addLast(t.accept(channel.alloc(), shared.port().limits().greetingMillis())));
    if (shared.port().admit(channel)) {
      connected.add(channel);
      lookWhileConnected();
      Visitor visitor =
          protocol.open(channel, room -> new ClientRequests(channel, shared, room, true));
      channel.pipeline().addLast(visitor.guard(), visitor);
    } else {
      excess.refuse(channel, alloc -> protocol.refusal(alloc, shared.port().tooMany()));
    }
  }

  /**
   * Begins to look every {@link #LOOK_MILLIS}, unless that is planned. Called after a client has
   * connected.
   */
  private void lookWhileConnected() {
    if (looking.compareAndSet(false, true)) {
      network.later(this::look, LOOK_MILLIS);
    }
  }

  private void look() {
    try {
      closeSlowReader();
      lookForGone();
    } finally {
      if (!connected.isEmpty()) {
        network.later(this::look, LOOK_MILLIS);
      } else {
        looking.set(false);
        if (!connected.isEmpty()) { // a client may have come before the flag was cleared
          lookWhileConnected();
        }
      }
    }
  }

  /** If the users have changed, closes the connections of those who no longer exist. */
  @SuppressWarnings("ReferenceEquality") // other users are another object
  private void lookForGone() {
    Users now = shared.access().users();
    if (now != seen) {
      seen = now;
      shared.quotas().usersChanged();
      shared.handler().usersChanged();
      connected.forEach(ClientServer::closeIfGone);
    }
  }

  private static void closeIfGone(Channel channel) {
    Visitor visitor = channel.pipeline().get(Visitor.class);
    if (visitor != null) {
      channel.eventLoop().execute(visitor::closeIfGone);
    }
  }

  /**
   * Disconnects the client for which most answers wait, if those that wait for all clients together
   * take too much memory.
   */
  private void closeSlowReader() {
    long all = connected.stream().mapToLong(ClientServer::waitingBytes).sum();
    if (all > waitingBytesMax) {
      connected.stream()
          .max(Comparator.comparingLong(ClientServer::waitingBytes))
          .ifPresent(
              slowest -> {
                LOG.warn(
                    "client {} does not read its answers ({} bytes wait); connection closed",
                    slowest.remoteAddress(),
                    waitingBytes(slowest));
                slowest.close();
              });
    }
  }

  /** Returns the bytes of answers that wait in the channel and in front of it, about. */
  private static long waitingBytes(Channel channel) {
    ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer(); // null once it is closed
    Visitor visitor = channel.pipeline().get(Visitor.class);
    return buffer == null
        ? 0
        : buffer.totalPendingWriteBytes() + (visitor == null ? 0 : visitor.waitingBytes());
  }

  /**
   * Sets the address of the dashboard, which browsers that come to this port by mistake are told.
   */
  public void setPage(String at) {
    page = Optional.of(at);
  }

  /** Returns the number of the port for Osier's own clients. */
  public int port() {
    return server.address().getPort();
  }

  /** Returns the metrics of all ports for clients. */
  public Snapshot.Clients figures() {
    return new Snapshot.Clients(
        shared.port().open(),
        shared.watch().times(),
        shared.watch().failures(),
        shared.watch().malformedCount(),
        limited(),
        shared.quotas().loads(),
        Snapshot.Messages.NONE,
        Snapshot.Elsewhere.NONE);
  }

  private Map<String, Long> limited() {
    Map<String, Long> limited = new TreeMap<>(shared.quotas().refused());
    if (excess.count() > 0) {
      limited.put("port", excess.count());
    }
    return limited;
  }

  /** Stops to take connections and closes those that are open. */
  @Override
  public void close() {
    server.close();
    others.forEach(Network.Port::close);
    network.close();
  }
}
