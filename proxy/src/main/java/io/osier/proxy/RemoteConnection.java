package io.osier.proxy;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.osier.core.BackOff;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.FrameReader;
import io.osier.core.net.Framing;
import io.osier.core.net.Outgoing;
import io.osier.core.net.UnderWay;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection to one datacenter: opened again with a growing pause whenever it is lost, with
 * requests pipelined on it and answered in any order. Thread-safe.
 *
 * <p>A request is encoded by the connection's loop, together with those that have come in the
 * meantime, and waits for its answer in a table of that loop. Its time limit is looked at every
 * {@link #EXPIRY_MILLIS} ms with those of all others: a timer for each would cost more than the
 * rest.
 */
final class RemoteConnection implements Connection {
  private static final Logger LOG = LoggerFactory.getLogger(RemoteConnection.class);
  private static final long BACK_OFF_MILLIS_MIN = 50;
  private static final long BACK_OFF_MILLIS_MAX = 2_000;
  private static final double ROUND_TRIP_GAIN = 0.2;

  /** Pauses after logins that were refused, and after how many in a row it is given up. */
  private static final long LOGIN_MILLIS_MIN = 500;

  private static final long LOGIN_MILLIS_MAX = 60_000;
  private static final int LOGINS_MAX = 16;

  /** How exactly time limits are kept. */
  private static final long EXPIRY_MILLIS = 10;

  /** Who waits for the greeting's answer, which is the connection's own affair. */
  private static final Answered NOBODY =
      new Answered() {
        @Override
        public void answered(Reply reply) {}

        @Override
        public void lost(LostException cause) {}
      };

  /** A request that waits to be sent, or for its answer. */
  private static final class Pending {
    final Request request;
    final Answered answered;
    final long deadlineNanos;
    final long startNanos;

    Pending(Request request, Answered answered, long startNanos, long deadlineNanos) {
      this.request = request;
      this.answered = answered;
      this.startNanos = startNanos;
      this.deadlineNanos = deadlineNanos;
    }
  }

  private final String dc;
  private final InetSocketAddress address;
  private final ClientSettings settings;
  private final Timers timers;
  private final EventLoopGroup loops;
  private final Runnable onChange;
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger loginsRefused = new AtomicInteger();
  private volatile @Nullable Inbound channel;
  private volatile Reply.@Nullable Welcome welcome;
  private volatile List<Reply.KeyspaceInfo> keyspaces = List.of();
  private volatile double roundTripNanos = Double.NaN;
  private volatile @Nullable OsierException refused;
  private volatile @Nullable String trouble;
  private volatile boolean closed;
  private final BackOff backOff = new BackOff(BACK_OFF_MILLIS_MIN, BACK_OFF_MILLIS_MAX);

  RemoteConnection(
      String dc,
      InetSocketAddress address,
      ClientSettings settings,
      Timers timers,
      EventLoopGroup loops,
      Runnable onChange) {
    this.dc = dc;
    this.address = address;
    this.settings = settings;
    this.timers = timers;
    this.loops = loops;
    this.onChange = onChange;
  }

  @Override
  public void open() {
    if (settings.tls().isEmpty()) {
      connect();
      return;
    }
    // The files may have changed, and the loop must not wait for a disk.
    Thread.ofVirtual()
        .name("osier-client-tls")
        .start(
            () -> {
              try {
                settings.tls().get().refresh();
              } catch (OsierException e) {
                LOG.warn("{}; those that were read before are used", e.getMessage());
              }
              connect();
            });
  }

  private void connect() {
    if (closed) {
      return;
    }
    new Bootstrap()
        .group(loops)
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) settings.connectTimeout().toMillis())
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel ch) {
                settings
                    .tls()
                    .ifPresent(
                        tls ->
                            ch.pipeline()
                                .addLast(
                                    tls.dial(
                                        ch.alloc(),
                                        address.getHostString(),
                                        address.getPort(),
                                        settings.connectTimeout().toMillis())));
                ch.pipeline().addLast(new Inbound(ch));
              }
            })
        .connect(InetSocketAddress.createUnresolved(address.getHostString(), address.getPort()))
        .addListener(
            (ChannelFuture f) -> {
              if (!f.isSuccess()) {
                trouble = Troubles.inWords(f.cause());
                LOG.debug("{}: {}", dc, trouble);
                openLater();
              } else if (closed) {
                f.channel().close();
              }
            });
  }

  private void openLater() {
    if (closed) {
      return;
    }
    int refusals = loginsRefused.get();
    if (refusals == 0) {
      long pause = backOff.nextMillis(ThreadLocalRandom.current());
      loops.schedule(this::open, pause, TimeUnit.MILLISECONDS);
    } else {
      loginPauseMillis(refusals)
          .ifPresent(pause -> loops.schedule(this::open, pause, TimeUnit.MILLISECONDS));
    }
  }

  /**
   * How long to wait after so many refused logins in a row; empty if it is given up. A wrong
   * password does not become right by being repeated, but the user may come to be there.
   */
  static OptionalLong loginPauseMillis(int refusals) {
    return refusals >= LOGINS_MAX
        ? OptionalLong.empty()
        : OptionalLong.of(
            Math.min(LOGIN_MILLIS_MAX, LOGIN_MILLIS_MIN << Math.min(refusals - 1, 20)));
  }

  /**
   * One channel: bytes in, replies out to whoever waits for them. All but sending is its loop's.
   */
  private final class Inbound extends FrameReader {
    private final Channel over;
    private final Requests requests;
    private final UnderWay<Pending> pending = new UnderWay<>();

    /** The login that is under way, or was; null if nobody logs in. */
    private final @Nullable Login login = settings.user().map(Login::new).orElse(null);

    private long ids;
    private boolean expiryDue;
    private boolean ended;
    private boolean broken;

    /** When bytes came last, by the client's timers. */
    private volatile long heardNanos = timers.nanoTime();

    Inbound(Channel over) {
      super(Framing.CLIENT_FRAME_BYTES_MAX);
      this.over = over;
      this.requests = new Requests();
    }

    /** Requests on their way out. */
    private final class Requests extends Outgoing<Pending> {
      Requests() {
        super(over);
      }

      @Override
      protected boolean write(WireOutput to, Pending one) {
        if (ended) {
          fail(one, ErrorCode.UNAVAILABLE, false, "the connection to " + name() + " was lost");
          return false;
        }
        if (one.answered == NOBODY) {
          ProtocolCodec.write(to, 0, one.request); // the greeting
          return true;
        }
        if (one.deadlineNanos - timers.nanoTime() <= 0) {
          fail(one, ErrorCode.TIMEOUT, false, "the time limit was over before it could be sent");
          return false;
        }
        long id = ++ids;
        ProtocolCodec.write(to, id, one.request);
        pending.put(id, one);
        if (!expiryDue) {
          expiryDue = true;
          over.eventLoop().schedule(Inbound.this::expire, EXPIRY_MILLIS, TimeUnit.MILLISECONDS);
        }
        return true;
      }

      @Override
      protected void failed(Pending one, RuntimeException cause) {
        switch (cause) {
          case KryoBufferOverflowException e ->
              fail(
                  one,
                  ErrorCode.VALUE_TOO_LARGE,
                  false,
                  "the request is larger than "
                      + (Framing.CLIENT_FRAME_BYTES_MAX >> 20)
                      + " MiB; split it into several");
          case RejectedExecutionException e ->
              fail(one, ErrorCode.UNAVAILABLE, false, "this client is closed");
          default -> fail(one, ErrorCode.INVALID_ARGUMENT, false, "it cannot be encoded: " + cause);
        }
      }

      @Override
      protected boolean flushesSoon() {
        return isReading();
      }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      Login user = login;
      if (user == null) {
        greet(new Request.Hello(Request.PROTOCOL_VERSION, settings.name()));
      } else {
        apart(
            () ->
                greet(new Request.Login(Request.PROTOCOL_VERSION, settings.name(), user.first())));
      }
    }

    private void greet(Request greeting) {
      requests.add(new Pending(greeting, NOBODY, 0, 0));
    }

    /** Does what takes long for a loop: asks for the password, and hashes it. */
    private void apart(Runnable part) {
      Thread.ofVirtual()
          .name("osier-client-login")
          .start(
              () -> {
                try {
                  part.run();
                } catch (OsierException e) {
                  refuse(this, e.code(), e.getMessage());
                } catch (RuntimeException e) {
                  // Of the password's supplier, whose message may show what it knows.
                  refuse(
                      this,
                      ErrorCode.NOT_AUTHENTICATED,
                      "there is no password: its supplier failed with " + e.getClass().getName());
                }
              });
    }

    /** A part of the login has come. */
    void challenged(Login user, String message) {
      if (user.isToAnswer()) {
        apart(() -> greet(new Request.Proof(user.answer(message))));
        return;
      }
      try {
        user.verify(message);
      } catch (OsierException e) {
        refuse(this, e.code(), e.getMessage());
      }
    }

    @Override
    protected void frame(ChannelHandlerContext ctx, WireInput content) {
      long id = ProtocolCodec.decodeId(content);
      if (id == 0) {
        Reply reply = ProtocolCodec.decodeReplyBody(content);
        if (!(reply instanceof Reply.Pong)) { // that is a sign of life, and heard
          greeted(this, reply);
        }
        return;
      }
      Pending waiting = pending.remove(id);
      if (waiting != null) {
        Reply reply;
        try {
          reply = ProtocolCodec.decodeReplyBody(content);
        } catch (MalformedException e) {
          // The frame is whole, so what is wrong in it concerns this call alone.
          fail(waiting, ErrorCode.MALFORMED, true, name() + " answered, but: " + e.getMessage());
          return;
        }
        inFlight.decrementAndGet();
        if (settings.metrics() != ClientMetrics.NONE) {
          settings.metrics().answered(dc, timers.nanoTime() - waiting.startNanos);
        }
        waiting.answered.answered(reply);
      }
    }

    @Override
    protected void heard() {
      heardNanos = timers.nanoTime();
    }

    /** Whether nothing has come for so long: a ping may wait behind something large. */
    boolean isSilent(long millis) {
      return timers.nanoTime() - heardNanos >= millis * 1_000_000;
    }

    @Override
    protected void frames(ChannelHandlerContext ctx) {
      requests.flush(); // what the answers have brought about
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      super.channelInactive(ctx);
      ended = true;
      if (channel == this) {
        channel = null;
      }
      if (refused == null && !broken) {
        trouble =
            welcome == null
                ? "it closed the connection without a greeting (is this the port for clients, and"
                    + (settings.tls().isPresent() ? " with TLS?)" : " without TLS?)")
                : "the connection was lost";
      }
      for (Pending one : pending.removeAll()) {
        fail(
            one,
            ErrorCode.UNAVAILABLE,
            true,
            closed ? "this client was closed" : "the connection to " + name() + " was lost");
      }
      requests.flush(); // fails what has not been sent
      onChange.run();
      openLater();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      if (!broken && !closed) { // each buffer that is not sent fails once more
        String why = Troubles.inWords(cause);
        if (!why.equals(trouble)) { // it is tried again and again
          LOG.warn("connection to {} closed: {}", dc, why);
        }
        trouble = why;
      }
      broken = true;
      ctx.close();
    }

    private void expire() {
      long now = timers.nanoTime();
      List<Long> late = new ArrayList<>(0);
      pending.forEach(
          (one, id) -> {
            if (one.deadlineNanos - now <= 0) {
              late.add(id);
            }
          });
      for (long id : late) {
        Pending one = pending.remove(id);
        if (one != null) {
          long millis = (one.deadlineNanos - one.startNanos) / 1_000_000;
          fail(one, ErrorCode.TIMEOUT, true, name() + " did not answer within " + millis + " ms");
        }
      }
      expiryDue = !pending.isEmpty();
      if (expiryDue) {
        over.eventLoop().schedule(this::expire, EXPIRY_MILLIS, TimeUnit.MILLISECONDS);
      }
    }

    private void fail(Pending one, ErrorCode code, boolean sent, String message) {
      if (one.answered != NOBODY) {
        inFlight.decrementAndGet();
        one.answered.lost(new LostException(code, sent, message));
      }
    }
  }

  private void greeted(Inbound at, Reply reply) {
    Login login = at.login;
    switch (reply) {
      case Reply.Welcome w -> {
        if (login != null && !login.isProven()) {
          refuse(at, ErrorCode.NOT_AUTHENTICATED, "the other end lets anybody in without a proof");
          return;
        }
        welcome = w;
        keyspaces = w.keyspaces();
        channel = at;
        refused = null;
        trouble = null;
        backOff.reset();
        loginsRefused.set(0);
        ping();
        onChange.run();
      }
      case Reply.Challenge c -> {
        if (login == null) {
          at.over.close();
        } else {
          at.challenged(login, c.message());
        }
      }
      case Reply.Failure f -> refuse(at, f.code(), f.message());
      default -> at.over.close();
    }
  }

  /** The datacenter does not take this client, or this client does not take it. */
  private void refuse(Inbound at, ErrorCode code, @Nullable String message) {
    OsierException why = new OsierException(code, dc + ": " + message);
    OsierException before = refused;
    if (before == null || !String.valueOf(before.getMessage()).equals(why.getMessage())) {
      LOG.warn("{} refuses this client: {}: {}", dc, code, message); // it is tried again and again
    }
    if (code == ErrorCode.NOT_AUTHENTICATED) {
      loginsRefused.incrementAndGet();
    }
    refused = why;
    trouble = why.getMessage();
    onChange.run();
    at.over.close();
  }

  @Override
  public CompletableFuture<Reply> send(Request request, long timeoutMillis) {
    CompletableFuture<Reply> reply = new CompletableFuture<>();
    long now = timers.nanoTime();
    send(
        request,
        now,
        now + Math.max(1, timeoutMillis) * 1_000_000,
        new Answered() {
          @Override
          public void answered(Reply r) {
            reply.complete(r);
          }

          @Override
          public void lost(LostException cause) {
            reply.completeExceptionally(cause);
          }
        });
    return reply;
  }

  @Override
  public void send(Request request, long nowNanos, long deadlineNanos, Answered answered) {
    Inbound over = channel;
    if (over == null) {
      answered.lost(new LostException(ErrorCode.UNAVAILABLE, false, "not connected to " + name()));
      return;
    }
    inFlight.incrementAndGet();
    over.requests.add(new Pending(request, answered, nowNanos, deadlineNanos));
  }

  @Override
  public void ping() {
    Inbound at = channel;
    if (at == null) {
      return;
    }
    long start = timers.nanoTime();
    long patience = Math.max(1_000, 4 * settings.pingInterval().toMillis());
    send(new Request.Ping(), patience)
        .whenComplete(
            (pong, error) -> {
              if (error == null) {
                double took = timers.nanoTime() - start;
                roundTripNanos =
                    Double.isNaN(roundTripNanos)
                        ? took
                        : roundTripNanos + ROUND_TRIP_GAIN * (took - roundTripNanos);
              } else if (error instanceof LostException lost
                  && lost.code == ErrorCode.TIMEOUT
                  && at.isSilent(patience)) {
                LOG.warn("{} does not answer; connection closed", dc);
                at.over.close();
              }
            });
  }

  @Override
  public String dc() {
    return dc;
  }

  @Override
  public boolean isUp() {
    return channel != null;
  }

  @Override
  public @Nullable ReplicaId replica() {
    Reply.Welcome w = welcome;
    return w == null ? null : w.replica();
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaceList() {
    return keyspaces;
  }

  @Override
  public CompletableFuture<Void> refreshKeyspaces(long timeoutMillis) {
    return send(new Request.Keyspaces(), timeoutMillis)
        .handle(
            (reply, error) -> {
              // A datacenter of a former version does not know the request, and nothing changes.
              if (reply instanceof Reply.Keyspaces now) {
                keyspaces = now.keyspaces();
              }
              return null;
            });
  }

  @Override
  public double roundTripNanos() {
    return roundTripNanos;
  }

  @Override
  public @Nullable OsierException refused() {
    return refused;
  }

  @Override
  public @Nullable String trouble() {
    return trouble;
  }

  @Override
  public int inFlight() {
    return inFlight.get();
  }

  @Override
  public void close() {
    closed = true;
    Inbound at = channel;
    if (at != null) {
      channel = null;
      at.over.close(); // fails what is open
    }
  }
}
