package io.osier.propagation.transport;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.osier.core.BackOff;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.OutOfMemory;
import io.osier.core.ReplicaId;
import io.osier.core.codec.Codec;
import io.osier.propagation.Frame;
import io.osier.propagation.FrameCodec;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to and from the other datacenters. Each datacenter dials every other, and what it
 * has to say travels only on the connection that it dialled; the other end of it carries the
 * handshake's answer and pongs. So the two directions of a link fail one by one, as on a real
 * network.
 *
 * <p>Handshake: {@code Hello} with version, cluster, name and incarnation, and the keyspaces'
 * policies; {@code Welcome} or {@code Refused} with the reason. A keyspace that both do not see
 * alike is not replicated between them, and the others are. A connection over which no byte comes
 * for the dead interval is closed; whoever takes data gives pongs meanwhile, since a ping may wait
 * behind the data. Thread-safe.
 */
public final class PeerTransport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerTransport.class);

  /** Largest frame between datacenters, in bytes: a partition's frame, and room. */
  public static final int FRAME_BYTES_MAX = Codec.RECORD_BYTES_MAX + (1 << 20);

  /**
   * A peer that buffers more than this is disconnected; its stream resumes later. Large frames do
   * not count: one alone may be larger, and there are as many as answers that were asked for.
   */
  private static final long BUFFERED_BYTES_MAX = 256L << 20;

  private static final int LARGE_FRAME_BYTES = 16 << 20;

  static final long PING_MILLIS = 1_000;
  static final long DEAD_MILLIS = 5_000;
  private static final int CONNECT_MILLIS = 5_000;
  private static final int FLUSH_AFTER = 64;
  private static final int REFUSALS_LOGGED_MAX = 1_000;

  private final ReplicaId self;
  private final String cluster;
  private final Function<String, List<String>> fingerprints;
  private final PeerListener listener;
  private final PortGuard port;
  private final EventLoopGroup loops;
  private final Map<String, Dialler> diallers = new TreeMap<>();

  /** By name, the incarnation that is connected to us and over which channel. */
  private final Map<String, Accepted> accepted = new ConcurrentHashMap<>();

  private final Map<String, Long> newest = new ConcurrentHashMap<>();
  private final Map<String, List<String>> keyspaceNames = new ConcurrentHashMap<>();
  private final Map<String, Traffic> traffic = new ConcurrentSkipListMap<>();

  /** By name, the last refusal that was logged: the same one comes back every second. */
  private final Map<String, String> loggedRefusals = new ConcurrentHashMap<>();

  private final Channel server;
  private volatile boolean closed;

  /** Held to set it, and to give the loop something that must not come after its end. */
  private final Object closing = new Object();

  private record Accepted(ReplicaId replica, Channel channel) {}

  /**
   * Binds and starts to dial.
   *
   * @param self this datacenter
   * @param cluster only datacenters of one cluster talk to each other
   * @param listen where other datacenters dial; port 0 for any free one
   * @param peers the others' addresses by name
   * @param fingerprints by a peer's name, the fingerprints of the keyspaces that both hold
   * @param limits of the port that is bound
   * @param listener hears of everything
   * @throws OsierException CONFIGURATION if the address cannot be bound
   */
  public PeerTransport(
      ReplicaId self,
      String cluster,
      InetSocketAddress listen,
      Map<String, InetSocketAddress> peers,
      Function<String, List<String>> fingerprints,
      PortLimits limits,
      PeerListener listener) {
    this.self = self;
    this.cluster = cluster;
    this.fingerprints = fingerprints;
    this.listener = listener;
    this.port = new PortGuard("osier.listen.peer-connections: the peer port", limits);
    this.loops =
        new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("osier-peers", true), NioIoHandler.newFactory());
    peers.forEach(
        (dc, address) -> {
          traffic.put(dc, new Traffic());
          diallers.put(dc, new Dialler(dc, address));
        });
    this.server = bind(listen);
  }

  private Channel bind(InetSocketAddress listen) {
    try {
      return new ServerBootstrap()
          .group(loops)
          .channel(NioServerSocketChannel.class)
          .option(ChannelOption.SO_REUSEADDR, true)
          .childOption(ChannelOption.TCP_NODELAY, true)
          .childHandler(
              new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel ch) {
                  if (!port.admit(ch)) {
                    ch.close();
                    return;
                  }
                  ByteCounter counter = new ByteCounter();
                  PeerFrames frames = new PeerFrames();
                  ConnectionGuard guard = new ConnectionGuard(port, frames::isInFrame);
                  ch.pipeline().addLast(counter);
                  addLife(ch);
                  LifeSigns signs = new LifeSigns(() -> write(ch, new PeerMessage.Pong()));
                  ch.pipeline().addLast(signs, guard);
                  addFraming(ch, frames);
                  ch.pipeline().addLast(new Acceptor(counter, signs, frames, guard));
                }
              })
          .bind(listen)
          .syncUninterruptibly()
          .channel();
    } catch (Throwable e) {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw e;
    }
  }

  /** Starts to dial the peers: when the listener is ready. */
  public void dial() {
    diallers.values().forEach(Dialler::open);
  }

  /** The port that other datacenters dial. */
  public int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** How many peers frames can be sent to at present. */
  public int connected() {
    return (int) diallers.values().stream().filter(d -> d.channel != null).count();
  }

  /** By peer, the bytes that its connections have carried so far, with their framing. */
  public Map<String, Traffic> traffic() {
    return Collections.unmodifiableMap(traffic);
  }

  /**
   * Sends a partition's frame; it is dropped if there is no connection, and if it cannot be
   * encoded, which is a fault, but none that others must suffer from.
   */
  public void send(String dc, String keyspace, int partition, Frame frame) {
    Dialler dialler = diallers.get(dc);
    if (dialler == null) {
      return;
    }
    byte[] bytes;
    try {
      bytes = FrameCodec.encode(self, frame);
    } catch (RuntimeException e) {
      LOG.error(
          "a frame ({}) of partition {} of {} cannot be sent to {}",
          frame.getClass().getSimpleName(),
          partition,
          keyspace,
          dc,
          e);
      return;
    }
    dialler.send(new PeerMessage.Data(keyspaces(dc).indexOf(keyspace), partition, bytes));
  }

  /** The names of the keyspaces that both hold, in the order of the greeting's list. */
  private List<String> keyspaces(String dc) {
    return keyspaceNames.computeIfAbsent(
        dc, d -> fingerprints.apply(d).stream().map(Agreement::name).toList());
  }

  /** Before the framing: any byte that comes is a sign of life, also one of a long frame. */
  private static void addLife(SocketChannel ch) {
    ch.pipeline().addLast(new ReadTimeoutHandler(DEAD_MILLIS, TimeUnit.MILLISECONDS));
  }

  private static void addFraming(SocketChannel ch, PeerFrames frames) {
    ch.pipeline().addLast(new FlushConsolidationHandler(FLUSH_AFTER, true));
    ch.pipeline().addLast(frames);
    ch.pipeline().addLast(new LengthFieldPrepender(PeerFrames.LENGTH_BYTES));
  }

  /** The bytes that the connections with one peer have carried. Thread-safe. */
  public static final class Traffic {
    private final LongAdder sent = new LongAdder();
    private final LongAdder received = new LongAdder();

    private Traffic() {}

    /** Bytes sent to the peer. */
    public long sentBytes() {
      return sent.sum();
    }

    /** Bytes received from the peer. */
    public long receivedBytes() {
      return received.sum();
    }
  }

  /** Counts a connection's bytes, for its peer once that is known. */
  private static final class ByteCounter extends ChannelDuplexHandler {
    private Traffic traffic = new Traffic();

    void countFor(Traffic peer) {
      peer.sent.add(traffic.sentBytes());
      peer.received.add(traffic.receivedBytes());
      traffic = peer;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      if (message instanceof ByteBuf bytes) {
        traffic.received.add(bytes.readableBytes());
      }
      ctx.fireChannelRead(message);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      if (message instanceof ByteBuf bytes) {
        traffic.sent.add(bytes.readableBytes());
      }
      ctx.write(message, promise);
    }
  }

  private static void write(Channel channel, PeerMessage message) {
    channel.writeAndFlush(PeerMessage.encode(message));
  }

  private static byte[] bytes(ByteBuf frame) {
    byte[] bytes = new byte[frame.readableBytes()];
    frame.readBytes(bytes);
    return bytes;
  }

  // ---------------------------------------------------------------- the way out

  /** The connection that this datacenter dials to one peer, again and again. */
  private final class Dialler {
    private static final long BACK_OFF_MILLIS_MIN = 50;
    private static final long BACK_OFF_MILLIS_MAX = 1_000;

    private final String dc;
    private final InetSocketAddress address;
    private volatile Channel channel;

    /** Of large frames that have not left yet. */
    private final AtomicLong largeBytes = new AtomicLong();

    // Of one attempt after the other, by whichever thread makes it.
    private final BackOff backOff = new BackOff(BACK_OFF_MILLIS_MIN, BACK_OFF_MILLIS_MAX);
    private volatile String lastFailure = "";
    private int duplicates;

    Dialler(String dc, InetSocketAddress address) {
      this.dc = dc;
      this.address = address;
    }

    /** Dials. The name is looked up anew, and not by the thread that serves the connections. */
    void open() {
      if (!closed) {
        Thread.ofVirtual()
            .name("osier-dial-" + dc)
            .start(
                () -> {
                  var resolved = new InetSocketAddress(address.getHostString(), address.getPort());
                  synchronized (closing) {
                    if (!closed) {
                      loops.execute(() -> connect(resolved));
                    }
                  }
                });
      }
    }

    /** For the loop, which does not end meanwhile. */
    private void connect(InetSocketAddress resolved) {
      if (closed) {
        return;
      }
      if (resolved.isUnresolved()) {
        notReached("no address is known of the name " + resolved.getHostString());
        return;
      }
      new Bootstrap()
          .group(loops)
          .channel(NioSocketChannel.class)
          .option(ChannelOption.TCP_NODELAY, true)
          .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
          .handler(
              new ChannelInitializer<SocketChannel>() {
                @Override
                protected void initChannel(SocketChannel ch) {
                  ByteCounter counter = new ByteCounter();
                  counter.countFor(traffic.get(dc));
                  ch.pipeline().addLast(counter);
                  addLife(ch);
                  PeerFrames frames = new PeerFrames(); // what is answered there is small
                  addFraming(ch, frames);
                  ch.pipeline().addLast(new Dialled(frames));
                }
              })
          .connect(resolved)
          .addListener(
              f -> {
                if (!f.isSuccess()) {
                  notReached(reason(f.cause()));
                }
              });
    }

    private void notReached(String why) {
      if (!closed && !why.equals(lastFailure)) {
        lastFailure = why;
        LOG.info("{} cannot be reached, and is tried again and again: {}", dc, why);
      }
      openLater();
    }

    private void openLater() {
      if (!closed) {
        long millis = backOff.nextMillis(ThreadLocalRandom.current());
        loops.schedule(this::open, millis, TimeUnit.MILLISECONDS);
      }
    }

    void send(PeerMessage message) {
      Channel over = channel;
      if (over == null) {
        return;
      }
      ChannelOutboundBuffer waiting = over.unsafe().outboundBuffer(); // null once it is closed
      if (waiting != null
          && waiting.totalPendingWriteBytes() - largeBytes.get() > BUFFERED_BYTES_MAX) {
        LOG.warn("{} takes nothing; connection closed", dc);
        over.close();
        return;
      }
      int bytes = message instanceof PeerMessage.Data data ? data.frame().length : 0;
      if (bytes < LARGE_FRAME_BYTES) {
        write(over, message);
        return;
      }
      largeBytes.addAndGet(bytes);
      over.writeAndFlush(PeerMessage.encode(message))
          .addListener(f -> largeBytes.addAndGet(-bytes));
    }

    private final class Dialled extends SimpleChannelInboundHandler<ByteBuf> {
      private final PeerFrames frames;

      Dialled(PeerFrames frames) {
        super(ByteBuf.class);
        this.frames = frames;
      }

      @Override
      public void channelActive(ChannelHandlerContext ctx) {
        write(
            ctx.channel(),
            new PeerMessage.Hello(
                PeerMessage.PROTOCOL_VERSION, cluster, self, dc, fingerprints.apply(dc)));
      }

      @Override
      protected void channelRead0(ChannelHandlerContext ctx, ByteBuf frame) {
        switch (PeerMessage.decode(bytes(frame))) {
          case PeerMessage.Welcome w -> welcomed(ctx, w);
          case PeerMessage.Refused r -> refused(ctx, r);
          case PeerMessage.Pong p -> {}
          default -> {
            LOG.warn("{} sends what only a dialler may send; connection closed", dc);
            end(ctx);
          }
        }
      }

      private void welcomed(ChannelHandlerContext ctx, PeerMessage.Welcome welcome) {
        ReplicaId replica = welcome.replica();
        if (!replica.dc().equals(dc)) {
          LOG.error("at the address of {} answers {}; check the peers' addresses", dc, replica);
          end(ctx);
          return;
        }
        LOG.info("connected to {}", replica);
        backOff.reset();
        lastFailure = "";
        loggedRefusals.remove(">" + dc);
        duplicates = 0;
        newest.merge(dc, replica.incarnation(), Math::max);
        List<String> mine = fingerprints.apply(dc);
        Agreement agreement = compare(dc, mine, welcome.keyspaces().orElse(mine));
        channel = ctx.channel();
        ping(ctx);
        listener.up(replica, agreement.agreed());
      }

      private void ping(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
          write(ctx.channel(), new PeerMessage.Ping());
          ctx.executor().schedule(() -> ping(ctx), PING_MILLIS, TimeUnit.MILLISECONDS);
        }
      }

      private void refused(ChannelHandlerContext ctx, PeerMessage.Refused r) {
        if (!r.message().equals(loggedRefusals.put(">" + dc, r.message()))) {
          LOG.error(
              "{} refuses this datacenter, which goes on trying: {}: {}",
              dc,
              r.code(),
              r.message());
        }
        backOff.slowDown();
        // The connection of a process that was killed may linger for the dead interval.
        boolean lingers =
            r.code() == ErrorCode.DUPLICATE_DC
                && r.newest() < self.incarnation()
                && ++duplicates <= 3 * DEAD_MILLIS / BACK_OFF_MILLIS_MAX;
        if (!lingers) {
          listener.rejected(dc, new OsierException(r.code(), dc + ": " + r.message()));
        }
        end(ctx);
      }

      private void end(ChannelHandlerContext ctx) {
        frames.end();
        ctx.close();
      }

      @Override
      public void channelInactive(ChannelHandlerContext ctx) {
        if (channel == ctx.channel()) {
          channel = null;
          LOG.info("connection to {} lost", dc);
          listener.down(dc);
        }
        openLater();
      }

      @Override
      public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        OutOfMemory.report(cause);
        if (!frames.hasEnded()) {
          LOG.warn("connection to {} closed: {}", dc, reason(cause));
        }
        end(ctx);
      }
    }
  }

  /** Says by name what differs, once; the keyspaces that agree are replicated all the same. */
  private Agreement compare(String dc, List<String> mine, List<String> theirs) {
    Agreement agreement = Agreement.of(self.dc(), mine, dc, theirs);
    String text = agreement.differing().toString();
    String before = loggedRefusals.put("=" + dc, text);
    if (!agreement.differing().isEmpty() && !text.equals(before)) {
      agreement
          .differing()
          .forEach(
              (name, what) ->
                  LOG.error("keyspace '{}' is not replicated with {}: {}", name, dc, what));
    } else if (agreement.differing().isEmpty() && before != null && !text.equals(before)) {
      LOG.info("{} and this datacenter agree on all keyspaces", dc);
    }
    listener.compared(dc, agreement.differing());
    return agreement;
  }

  private static String reason(Throwable cause) {
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  // ---------------------------------------------------------------- the way in

  /** A connection that another datacenter dialled. */
  private final class Acceptor extends SimpleChannelInboundHandler<ByteBuf> {
    private final ByteCounter counter;
    private final LifeSigns signs;
    private final PeerFrames frames;
    private final ConnectionGuard guard;
    private ReplicaId peer;

    /** As the peer numbers the keyspaces. */
    private List<String> names = List.of();

    private Set<String> agreed = Set.of();

    Acceptor(ByteCounter counter, LifeSigns signs, PeerFrames frames, ConnectionGuard guard) {
      super(ByteBuf.class);
      this.counter = counter;
      this.signs = signs;
      this.frames = frames;
      this.guard = guard;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext ctx, ByteBuf frame) {
      guard.frame();
      PeerMessage message = PeerMessage.decode(bytes(frame));
      if (peer == null) {
        if (message instanceof PeerMessage.Hello hello) {
          greet(ctx, hello);
        } else {
          LOG.warn("{} sends no greeting; connection closed", ctx.channel().remoteAddress());
          end(ctx);
        }
        return;
      }
      switch (message) {
        case PeerMessage.Ping p -> signs.give();
        case PeerMessage.Data d -> received(d);
        default -> {
          LOG.warn("{} sends what does not belong here; connection closed", peer);
          end(ctx);
        }
      }
    }

    private void received(PeerMessage.Data data) {
      if (data.keyspace() >= names.size()) {
        throw new OsierException(
            ErrorCode.MALFORMED, "keyspace " + data.keyspace() + " is not one of " + names);
      }
      String keyspace = names.get(data.keyspace());
      if (agreed.contains(keyspace)) {
        listener.received(peer, keyspace, data.partition(), FrameCodec.decode(peer, data.frame()));
      }
    }

    private void greet(ChannelHandlerContext ctx, PeerMessage.Hello hello) {
      PeerMessage.Refused refused = judge(ctx.channel(), hello);
      if (refused != null) {
        String from = hello.replica().toString();
        if (loggedRefusals.size() > REFUSALS_LOGGED_MAX) {
          loggedRefusals.clear();
        }
        if (!refused.message().equals(loggedRefusals.put("<" + from, refused.message()))) {
          LOG.warn("{} is refused: {}: {}", from, refused.code(), refused.message());
        }
        write(ctx.channel(), refused);
        frames.end();
        ctx.channel().eventLoop().schedule(() -> ctx.close(), 100, TimeUnit.MILLISECONDS);
        return;
      }
      peer = hello.replica();
      frames.greeted();
      guard.greeted();
      newest.merge(peer.dc(), peer.incarnation(), Math::max);
      counter.countFor(traffic.get(peer.dc()));
      Accepted before = accepted.put(peer.dc(), new Accepted(peer, ctx.channel()));
      if (before != null && before.channel != ctx.channel()) {
        // The peer gave it up; frames that it still holds must not come after newer ones.
        before.channel.close();
      }
      List<String> mine = fingerprints.apply(peer.dc());
      boolean same = mine.equals(hello.keyspaces());
      names = hello.keyspaces().stream().map(Agreement::name).toList();
      agreed = Set.copyOf(compare(peer.dc(), mine, hello.keyspaces()).agreed());
      write(
          ctx.channel(),
          new PeerMessage.Welcome(self, same ? Optional.empty() : Optional.of(mine)));
      signs.start(ctx.channel());
    }

    private void end(ChannelHandlerContext ctx) {
      frames.end();
      ctx.close();
    }

    private PeerMessage.Refused judge(Channel channel, PeerMessage.Hello hello) {
      if (hello.protocolVersion() != PeerMessage.PROTOCOL_VERSION) {
        return refuse(
            ErrorCode.VERSION_MISMATCH,
            "peer protocol "
                + hello.protocolVersion()
                + " is not "
                + PeerMessage.PROTOCOL_VERSION
                + ", which this datacenter speaks");
      }
      if (!hello.cluster().equals(cluster)) {
        return refuse(
            ErrorCode.CONFIGURATION,
            "cluster '"
                + hello.cluster()
                + "' is not '"
                + cluster
                + "', which this one belongs to");
      }
      String dc = hello.replica().dc();
      if (!hello.to().equals(self.dc())) {
        return refuse(
            ErrorCode.CONFIGURATION,
            "this is " + self.dc() + ", not " + hello.to() + "; check the peers' addresses");
      }
      if (!diallers.containsKey(dc) && !dc.equals(self.dc())) {
        return refuse(
            ErrorCode.CONFIGURATION,
            "datacenter '" + dc + "' is not among the peers " + diallers.keySet());
      }
      return judgeIncarnation(channel, hello.replica());
    }

    private PeerMessage.Refused judgeIncarnation(Channel channel, ReplicaId replica) {
      Accepted other = accepted.get(replica.dc());
      long known = newest.getOrDefault(replica.dc(), 0L);
      boolean alive = other != null && other.channel.isActive() && other.channel != channel;
      if (replica.dc().equals(self.dc())
          || (alive && !other.replica.equals(replica))
          || replica.incarnation() < known) {
        return new PeerMessage.Refused(
            ErrorCode.DUPLICATE_DC,
            "another process already runs as '"
                + replica.dc()
                + "' (incarnation "
                + (replica.dc().equals(self.dc()) ? self.incarnation() : known)
                + "; yours is "
                + replica.incarnation()
                + "). Each datacenter needs a name of its own; if the clock went back, set"
                + " osier.incarnation-min to a larger number",
            known);
      }
      return null;
    }

    private PeerMessage.Refused refuse(ErrorCode code, String message) {
      return new PeerMessage.Refused(code, message, 0);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      if (peer != null) {
        accepted.computeIfPresent(peer.dc(), (dc, a) -> a.channel == ctx.channel() ? null : a);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      if (peer != null && !frames.hasEnded()) {
        LOG.warn("connection from {} closed: {}", peer, reason(cause));
      } else if (!frames.hasEnded()) {
        port.log(ctx.channel(), reason(cause)); // anybody can do that, again and again
      }
      end(ctx);
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    synchronized (closing) {
      closed = true;
    }
    server.close();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2_000);
  }
}
