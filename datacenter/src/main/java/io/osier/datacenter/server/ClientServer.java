package io.osier.datacenter.server;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.OutOfMemory;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.core.net.FrameReader;
import io.osier.core.net.Framing;
import io.osier.core.net.Outgoing;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsName;
import io.osier.core.tls.TlsTrouble;
import io.osier.datacenter.config.MemoryPlan;
import io.osier.datacenter.figures.Snapshot;
import io.osier.datacenter.security.Identity;
import io.osier.datacenter.security.ScramLogin;
import io.osier.datacenter.security.UserCommand;
import io.osier.datacenter.security.Users;
import io.osier.datacenter.trace.Traces;
import io.osier.propagation.transport.ConnectionGuard;
import io.osier.propagation.transport.PortGuard;
import io.osier.propagation.transport.PortLimits;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes clients' connections and hands their requests to the keyspaces.
 *
 * <p>A client that sends and does not read must not fill the memory: beyond the high-water mark of
 * answers that wait to be sent its requests are left in the network, and where too much waits for
 * all clients together, the one for which most waits is disconnected ({@link SlowReaders}). All
 * requests, large ones as they come already, share a budget until they are answered; beyond it they
 * are refused.
 */
final class ClientServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientServer.class);
  private static final WriteBufferWaterMark UNSENT_MARKS =
      new WriteBufferWaterMark(1 << 20, 4 << 20);

  /** How often is looked who does not read its answers. */
  private static final long LOOK_MILLIS = 100;

  /**
   * What a request takes in the heap besides its bytes until it is answered: decoded, in its lane,
   * in front of who reads its object from the disk, with what will answer it.
   */
  private static final int REQUEST_BYTES = 512;

  /** How often is looked whether the users have changed. */
  private static final long GONE_MILLIS = 250;

  private static final int GREETING_BYTES_MAX = 1 << 10;
  private static final long REFUSED_MILLIS = 100;

  /** So many connections too many are told why they are closed, at once. */
  private static final int REFUSALS_MAX = 32;

  /** The system's own way to find out that the other end is gone while nobody says anything. */
  private static final int KEEPALIVE_SECONDS = 60;

  /** A client whose request takes longer to come hears so often that it is still being taken. */
  private static final long SIGN_MILLIS = 500;

  /** Does what clients ask for. Thread-safe. */
  interface Handler {
    /** What clients must know of the keyspaces. */
    List<Reply.KeyspaceInfo> keyspaces();

    /**
     * Does a request.
     *
     * @param lane in which order the client's requests come
     * @param reply takes the answer, which may be a failure, now or later
     */
    void handle(Request request, Lane lane, Consumer<Reply> reply);

    /**
     * Changes what holds for all datacenters.
     *
     * @param by the user who asks
     */
    void administer(Request.Administer request, String by, Consumer<Reply> reply);
  }

  private final ReplicaId self;
  private final Handler handler;
  private final AccessControl access;
  private final PortGuard port;
  private final ByteBudget requestBytes;
  private final ChannelGroup connected = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final AtomicInteger refusals = new AtomicInteger();
  private final EventLoopGroup loops;
  private final Channel server;
  private final SlowLog slow;
  private final Traces traces;
  private final RequestTimes times = new RequestTimes();
  private final LongAdder malformed = new LongAdder();

  ClientServer(
      ReplicaId self,
      InetSocketAddress listen,
      PortLimits limits,
      MemoryPlan memory,
      SlowLog slow,
      Traces traces,
      Optional<TlsContext> tls,
      AccessControl access,
      Handler handler) {
    this.self = self;
    this.access = access;
    this.slow = slow;
    this.traces = traces;
    this.handler = handler;
    this.port = new PortGuard("osier.listen.client-connections: the client port", limits);
    this.requestBytes = new ByteBudget(memory.requestBytes());
    this.loops =
        new MultiThreadIoEventLoopGroup(
            2, new DefaultThreadFactory("osier-clients", true), NioIoHandler.newFactory());
    try {
      this.server =
          new ServerBootstrap()
              .group(loops)
              .channel(NioServerSocketChannel.class)
              .option(ChannelOption.SO_REUSEADDR, true)
              .childOption(ChannelOption.TCP_NODELAY, true)
              .childOption(ChannelOption.SO_KEEPALIVE, true)
              .childOption(
                  NioChannelOption.of(ExtendedSocketOptions.TCP_KEEPIDLE), KEEPALIVE_SECONDS)
              .childOption(ChannelOption.WRITE_BUFFER_WATER_MARK, UNSENT_MARKS)
              .childHandler(
                  new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel ch) {
                      tls.ifPresent(
                          t ->
                              ch.pipeline().addLast(t.accept(ch.alloc(), limits.greetingMillis())));
                      if (port.admit(ch)) {
                        connected.add(ch);
                        Inbound inbound = new Inbound(ch);
                        ch.pipeline().addLast(inbound.guard, inbound);
                      } else {
                        refuse(ch);
                      }
                    }
                  })
              .bind(listen)
              .syncUninterruptibly()
              .channel();
    } catch (Throwable e) {
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw e;
    }
    SlowReaders readers = new SlowReaders(connected, memory.answerBytes());
    loops.scheduleWithFixedDelay(readers::look, LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
    loops.scheduleWithFixedDelay(
        new Runnable() {
          private Users seen = access.users();

          @Override
          @SuppressWarnings("ReferenceEquality") // other users are another object
          public void run() {
            Users now = access.users();
            if (now != seen) {
              seen = now;
              lookForGone();
            }
          }
        },
        GONE_MILLIS,
        GONE_MILLIS,
        TimeUnit.MILLISECONDS);
  }

  /** Closes the connections of users who are not there any more. */
  private void lookForGone() {
    for (Channel channel : connected) {
      Inbound inbound = channel.pipeline().get(Inbound.class);
      if (inbound != null) {
        channel.eventLoop().execute(inbound::closeIfGone);
      }
    }
  }

  /** Tells a connection that it is one too many. */
  private void refuse(SocketChannel channel) {
    if (refusals.incrementAndGet() > REFUSALS_MAX) {
      refusals.decrementAndGet();
      channel.close();
      return;
    }
    channel.closeFuture().addListener(f -> refusals.decrementAndGet());
    channel.pipeline().addLast(new Refusal());
    channel.eventLoop().schedule(() -> channel.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Answers whatever comes with why it is not taken. */
  private final class Refusal extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      byte[] answer =
          ProtocolCodec.encode(0, new Reply.Failure(ErrorCode.OVERLOADED, port.tooMany()));
      ByteBuf frame = ctx.alloc().buffer(Integer.BYTES + answer.length);
      ctx.writeAndFlush(frame.writeInt(answer.length).writeBytes(answer));
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      ReferenceCountUtil.release(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      ctx.close();
    }
  }

  int port() {
    return ((InetSocketAddress) server.localAddress()).getPort();
  }

  /** What it is doing. */
  Snapshot.Clients figures() {
    return new Snapshot.Clients(port.open(), times.times(), times.failures(), malformed.sum());
  }

  private static final Identity NOBODY = new Identity("", Optional.empty());

  /** One client's connection. */
  private final class Inbound extends FrameReader {
    private final Lane lane = new Lane();
    private final Channel channel;
    private final Outgoing<Envelope<Reply>> replies;
    private final ConnectionGuard guard;
    private boolean greeted;
    private boolean signDue;
    private boolean broken;

    /** A login that has begun and not ended; null otherwise. */
    private @Nullable ScramLogin login;

    /** As it calls itself. */
    private String client = "";

    /** Nobody, who may nothing, until it is known who it is. */
    private Visitor visitor = new Visitor(NOBODY);

    Inbound(Channel channel) {
      super(GREETING_BYTES_MAX, requestBytes);
      this.channel = channel;
      this.guard = new ConnectionGuard(port, this::isInFrame);
      this.replies = new Replies();
    }

    /** Answers on their way out. */
    private final class Replies extends Outgoing<Envelope<Reply>> {
      Replies() {
        super(channel);
      }

      @Override
      protected boolean write(WireOutput to, Envelope<Reply> answer) {
        ProtocolCodec.write(to, answer.id(), answer.message());
        return true;
      }

      @Override
      protected boolean beforeFlush() {
        return channel.unsafe().outboundBuffer() != null; // null once it is closed
      }

      @Override
      protected void failed(Envelope<Reply> answer, RuntimeException cause) {
        if (cause instanceof KryoBufferOverflowException) {
          answer(answer.id(), OversizedReply.failure(answer.message()));
          return;
        }
        LOG.error("an answer to client {} cannot be sent", channel.remoteAddress(), cause);
        if (cause instanceof RejectedExecutionException
            || answer.message() instanceof Reply.Failure) {
          channel.close(); // who waits for it must not wait for ever
        } else {
          answer(answer.id(), unencodable(answer.message(), cause));
        }
      }

      @Override
      protected boolean flushesSoon() {
        return isReading();
      }
    }

    private static Reply.Failure unencodable(Reply reply, RuntimeException cause) {
      boolean done =
          reply instanceof Reply.Done
              || (reply instanceof Reply.Transacted t && t.dot().isPresent());
      return new Reply.Failure(
          done ? ErrorCode.TIMEOUT : ErrorCode.INTERNAL,
          (done ? "it was done, but " : "") + "the answer cannot be encoded: " + cause);
    }

    private void answer(long id, Reply reply) {
      if (reply instanceof Reply.Failure f) {
        times.failed(f.code());
      }
      replies.add(new Envelope<>(id, reply));
    }

    @Override
    protected void frames(ChannelHandlerContext ctx) {
      replies.flush();
    }

    @Override
    protected void begun(ChannelHandlerContext ctx) {
      if (!signDue && greeted) {
        signDue = true;
        ctx.executor().schedule(this::giveSign, SIGN_MILLIS, TimeUnit.MILLISECONDS);
      }
    }

    /** Of a client whose ping waits behind its own large request. */
    private void giveSign() {
      signDue = false;
      if (isInFrame() && channel.isActive()) {
        answer(0, new Reply.Pong());
      }
    }

    @Override
    protected void frame(ChannelHandlerContext ctx, WireInput content) {
      guard.frame();
      int length = content.remaining();
      long id = ProtocolCodec.decodeId(content); // where there is none, nobody can be answered
      long began = System.nanoTime();
      Request request;
      try {
        request = ProtocolCodec.decodeRequestBody(content);
      } catch (MalformedException e) {
        malformed.increment();
        if (greeted) {
          answer(id, new Reply.Failure(e.code(), "the request cannot be read: " + e.getMessage()));
        } else {
          refuse(ctx, id, e.code(), "the greeting cannot be read: " + e.getMessage());
        }
        return;
      }
      if (!greeted) {
        greet(ctx, id, request);
        return;
      }
      Reply.Failure refusal = access.refusal(visitor, request, channel.remoteAddress());
      if (refusal != null) {
        answer(id, refusal);
        if (refusal.code() == ErrorCode.NOT_AUTHENTICATED) {
          closeSoon(ctx);
        }
      } else if (tryKeep(REQUEST_BYTES + length)) {
        Consumer<Reply> asked = new Asked(id, request, began, REQUEST_BYTES + length);
        Identity identity = visitor.identity();
        if (request instanceof Request.Administer administer) {
          handler.administer(administer, identity.user(), audited(administer, identity, asked));
          return;
        }
        handler.handle(
            request,
            lane,
            request instanceof Request.Scan scan
                ? page -> asked.accept(access.visible(identity, scan, page))
                : asked);
      } else {
        noRoom(id, length);
      }
    }

    private Consumer<Reply> audited(
        Request.Administer request, Identity identity, Consumer<Reply> asked) {
      String address = AccessControl.address(channel.remoteAddress());
      return reply -> {
        String outcome = reply instanceof Reply.Failure f ? f.code() + ": " + f.message() : "done";
        access.audit().administered(identity.user(), address, commandOf(request), outcome);
        asked.accept(reply);
      };
    }

    /** What is asked for, with the rights that are given or taken: no secret is among those. */
    private static String commandOf(Request.Administer request) {
      String rights = request.settings().get(UserCommand.RIGHTS);
      return rights == null || !request.subject().equals("user")
          ? request.toString()
          : request + ": " + String.join(", ", rights.lines().toList());
    }

    /** A request that is to be answered, once. */
    private final class Asked implements Consumer<Reply>, Phased {
      private final long id;
      private final Request request;
      private final long beganNanos;
      private final int keptBytes;
      private volatile long takenNanos;
      private volatile long executedNanos;

      Asked(long id, Request request, long beganNanos, int keptBytes) {
        this.id = id;
        this.request = request;
        this.beganNanos = beganNanos;
        this.keptBytes = keptBytes;
      }

      @Override
      public void accept(Reply reply) {
        requestBytes.give(keptBytes);
        long now = System.nanoTime();
        times.answered(RequestTimes.Kind.of(request), now - beganNanos);
        answer(id, reply);
        if (traces.isOn()) {
          traces.answered(request, reply, beganNanos, takenNanos, executedNanos, now);
        }
        if (slow.isSlow(now - beganNanos)) {
          slow.answered(
              request,
              new SlowLog.Phases(beganNanos, takenNanos, executedNanos, now),
              channel.remoteAddress());
        }
      }

      @Override
      public void taken(long nanos) {
        takenNanos = nanos;
      }

      @Override
      public void executed(long nanos) {
        executedNanos = nanos;
      }
    }

    @Override
    protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
      guard.frame();
      noRoom(ProtocolCodec.decodeId(head), length);
    }

    private void noRoom(long id, int length) {
      boolean ever = length <= requestBytes.max();
      answer(
          id,
          new Reply.Failure(
              ever ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
              "nothing was done: a request of "
                  + length
                  + " bytes finds no room; all that are under way may have "
                  + requestBytes.max()
                  + " bytes, an eighth of this datacenter's heap"));
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      boolean writable = channel.isWritable();
      channel.config().setAutoRead(writable);
      if (writable) {
        resume(ctx);
      } else {
        pause();
      }
      ctx.fireChannelWritabilityChanged();
    }

    private void greet(ChannelHandlerContext ctx, long id, Request request) {
      try {
        ScramLogin begun = login;
        if (begun == null && request instanceof Request.Hello hello) {
          begin(hello.protocolVersion(), hello.client());
          SocketAddress from = channel.remoteAddress();
          welcome(id, access.withoutPassword(TlsName.ofOtherEnd(channel), from, client));
        } else if (begun == null && request instanceof Request.Login first) {
          begin(first.protocolVersion(), first.client());
          challenge(id, first.message());
        } else if (begun != null && request instanceof Request.Proof last) {
          judge(id, begun, last.message());
        } else {
          throw new OsierException(
              ErrorCode.MALFORMED, "the first message must be Hello, or Login and then Proof");
        }
      } catch (OsierException e) {
        refuse(ctx, id, e.code(), e.getMessage());
      }
    }

    private void begin(int version, String name) {
      client = name;
      if (version != Request.PROTOCOL_VERSION) {
        throw new OsierException(
            ErrorCode.VERSION_MISMATCH,
            "client protocol "
                + version
                + " is not "
                + Request.PROTOCOL_VERSION
                + ", which this datacenter speaks");
      }
    }

    private void challenge(long id, String message) {
      ScramLogin begun = access.begin();
      String challenge = begun.challenge(message);
      access.checkPause(begun.claimed(), channel.remoteAddress());
      login = begun;
      answer(id, new Reply.Challenge(challenge));
    }

    private void judge(long id, ScramLogin of, String message) {
      String user = of.claimed();
      switch (of.verdict(message)) {
        case ScramLogin.Verdict.Accepted a -> {
          access.succeeded(user, channel.remoteAddress(), client);
          answer(id, new Reply.Challenge(a.proof()));
          welcome(id, a.identity());
        }
        case ScramLogin.Verdict.Refused r -> throw access.failed(user, channel.remoteAddress());
      }
    }

    private void welcome(long id, Identity identity) {
      login = null;
      visitor = new Visitor(identity);
      greeted = true;
      guard.greeted();
      setFrameBytesMax(Framing.CLIENT_FRAME_BYTES_MAX);
      answer(id, new Reply.Welcome(Request.PROTOCOL_VERSION, self, handler.keyspaces()));
    }

    private void refuse(
        ChannelHandlerContext ctx, long id, ErrorCode code, @Nullable String message) {
      // Anybody can cause that, again and again.
      port.log(channel, "refused: " + code + ": " + message);
      answer(id, new Reply.Failure(code, String.valueOf(message)));
      closeSoon(ctx);
    }

    private void closeSoon(ChannelHandlerContext ctx) {
      end();
      ctx.executor().schedule(() -> ctx.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Its user is not there any more: nothing of it is done, and it is told so when it asks. */
    private void closeIfGone() {
      if (greeted && visitor.in(access.users()).isEmpty()) {
        LOG.info(
            "connection of client {} closed: its user '{}' is not there any more",
            channel.remoteAddress(),
            visitor.identity().user());
        channel.close();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      OutOfMemory.report(cause);
      if (cause instanceof MalformedException || cause instanceof TooLongFrameException) {
        malformed.increment();
      }
      if (!broken) { // each buffer that is not sent fails once more
        String why =
            cause instanceof ClosedChannelException
                ? "it went without all of its answers"
                : TlsTrouble.inWords(cause)
                    .orElse(cause.getMessage() == null ? cause.toString() : cause.getMessage());
        if (greeted) {
          LOG.warn("connection of client {} closed: {}", channel.remoteAddress(), why);
        } else {
          port.log(channel, why); // anybody can do that, again and again
        }
      }
      broken = true;
      ctx.close();
    }
  }

  /** Stops to take connections and closes those that are open. */
  @Override
  public void close() {
    server.close();
    loops.shutdownGracefully(50, 1_000, TimeUnit.MILLISECONDS).awaitUninterruptibly(2_000);
  }
}
