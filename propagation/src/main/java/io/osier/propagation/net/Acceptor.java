package io.osier.propagation.net;

import static java.util.Objects.requireNonNull;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.memory.OutOfMemory;
import io.osier.core.net.FrameReader;
import io.osier.core.tls.TlsContext;
import io.osier.core.tls.TlsName;
import io.osier.propagation.net.link.ByteCounter;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.LinkInflater;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerWire;
import io.osier.propagation.net.link.PortGuard;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles a connection that another datacenter dialled: takes its greeting, then its frames. Small
 * frames are decoded in the loop. A large one is decoded by a thread of its own: meanwhile this
 * connection is not read, and other connections go on. Used by the channel's loop, except for the
 * static methods that say otherwise.
 */
final class Acceptor extends FrameReader {
  private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);

  /** A frame of this size takes milliseconds to decode. */
  private static final int LARGE_BYTES_MIN = 1 << 20;

  private static final long REFUSED_MILLIS = 100;

  private final PeeringContext peering;
  private final Peers peers;
  private final Arrivals arrivals;
  private final PortGuard port;
  private final ByteCounter counter;
  private final Heartbeat heartbeat;
  private final ConnectionGuard guard;
  private final LinkInflater inflater = new LinkInflater();

  /**
   * The datacenter that dialled.
   *
   * @param peer the entry under which it was let in
   */
  private record Sender(ReplicaId replica, Peer peer) {}

  /** Null until the connection has been let in. */
  private @Nullable Sender sender;

  /** The connection's line in {@link PeerIdentities}; null until the greeting has come. */
  private @Nullable IdentityLine greeted;

  /** The start number of the process that greeted; 0 before, and if the greeting has none. */
  private long start;

  private boolean ended;

  /** Whether updates were received on this connection. */
  private boolean hasSent;

  private final AgreedKeyspaces keyspaces;

  Acceptor(PeeringContext peering, Peers peers, Arrivals arrivals, PortGuard port) {
    super(Greeting.BYTES_MAX);
    this.peering = peering;
    this.peers = peers;
    this.keyspaces = new AgreedKeyspaces(peering);
    this.arrivals = arrivals;
    this.port = port;
    this.counter = new ByteCounter(new LinkTraffic());
    this.heartbeat = Heartbeat.answering();
    this.guard = new ConnectionGuard(port, this::isInFrame);
  }

  /** Adds this handler, and those that belong before it, to a new connection's pipeline. */
  void addTo(Channel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.addLast(counter);
    long millis = port.limits().greetingMillis();
    peering.tls().ifPresent(tls -> pipeline.addLast(tls.accept().accept(channel.alloc(), millis)));
    pipeline.addLast(heartbeat, guard, PeerWire.flushes(), this);
  }

  @Override
  protected void frame(ChannelHandlerContext ctx, WireInput content) {
    guard.frame();
    PeerMessage message = PeerMessage.decode(content);
    if (sender != null && message instanceof PeerMessage.Compressed compressed) {
      for (PeerMessage each : inflater.messages(compressed)) {
        if (!ended) {
          take(ctx, each);
        }
      }
    } else {
      take(ctx, message);
    }
  }

  private void take(ChannelHandlerContext ctx, PeerMessage message) {
    Sender from = sender;
    if (from == null) {
      if (message instanceof PeerMessage.Hello hello && greeted == null) {
        greet(ctx, hello);
      } else {
        LOG.warn("{} sent no greeting; connection closed", ctx.channel().remoteAddress());
        close(ctx);
      }
      return;
    }
    if (from.peer.isRemoved()) {
      return; // the connection is about to be closed
    }
    switch (message) {
      case PeerMessage.Ping p -> {
        if (ctx.channel().isWritable()) { // a peer that reads no answers gets no more of them
          heartbeat.give();
        }
      }
      case PeerMessage.Probe p -> PeerWire.write(ctx.channel(), new PeerMessage.Alive(p.number()));
      case PeerMessage.Alive a ->
          peering
              .identities()
              .answered(requireNonNull(greeted), a.number(), PeerWire.nowNanos(ctx))
              .forEach(Runnable::run);
      case PeerMessage.Data d -> {
        if (d.frame().length < LARGE_BYTES_MIN) {
          deliver(from, d);
        } else {
          apart(ctx, from, () -> deliver(from, d));
        }
      }
      case PeerMessage.Ask a -> {
        if (a.content().length < LARGE_BYTES_MIN) {
          asked(ctx.channel(), from, a);
        } else {
          apart(ctx, from, () -> asked(ctx.channel(), from, a));
        }
      }
      case PeerMessage.Keyspaces k -> {
        keyspaces.setTheirs(k.fingerprints());
        keyspaces.compare(from.replica.dc());
      }
      case PeerMessage.Note n -> peering.listener().noted(from.replica, n.content());
      default -> {
        LOG.warn("{} sent a message that is not allowed here; connection closed", from.replica);
        close(ctx);
      }
    }
  }

  @Override
  protected void frames(ChannelHandlerContext ctx) {
    Sender from = sender;
    if (from != null) {
      peering.listener().receivedAll(from.replica);
    }
  }

  private void deliver(Sender from, PeerMessage.Data data) {
    String keyspace = keyspaces.name(data.keyspace());
    if (keyspaces.agreed().contains(keyspace)) {
      Frame frame = FrameCodec.decode(from.replica, data.frame());
      if (!hasSent && brings(frame)) {
        hasSent = true;
        peering.identities().sent(requireNonNull(greeted));
      }
      if (!from.peer.isRemoved()) { // decoding takes time
        peering.listener().received(from.replica, keyspace, data.partition(), frame);
      }
    }
  }

  private void asked(Channel channel, Sender from, PeerMessage.Ask ask) {
    peering
        .listener()
        .asked(
            from.replica,
            ask.content(),
            (content, left) ->
                PeerWire.write(channel, new PeerMessage.Answer(content))
                    .addListener(sent -> left.run()));
  }

  /** Whether a frame carries updates of its sender, or offers some. */
  private static boolean brings(Frame frame) {
    return (frame instanceof Frame.Updates u && !u.shipments().isEmpty())
        || (frame instanceof Frame.Offer o && o.epoch() != Frame.Offer.OF_ANSWER);
  }

  /**
   * Handles something large in another thread; the loop reads nothing more of this connection
   * meanwhile.
   */
  private void apart(ChannelHandlerContext ctx, Sender from, Runnable taking) {
    pause();
    ctx.channel().config().setAutoRead(false);
    heartbeat.busy(true);
    peering
        .network()
        .apart(
            "osier-decode-" + from.replica.dc(),
            () -> {
              Optional<Throwable> failure = Optional.empty();
              try {
                taking.run();
              } catch (Throwable e) {
                failure = Optional.of(e);
              }
              goOn(ctx, failure);
            });
  }

  private void goOn(ChannelHandlerContext ctx, Optional<Throwable> failure) {
    try {
      ctx.executor()
          .execute(
              () -> {
                heartbeat.busy(false);
                if (failure.isPresent()) {
                  exceptionCaught(ctx, failure.get());
                } else {
                  ctx.channel().config().setAutoRead(true);
                  resume(ctx);
                }
              });
    } catch (RejectedExecutionException e) {
      LOG.debug("closed while a frame was decoded", e);
    }
  }

  private void greet(ChannelHandlerContext ctx, PeerMessage.Hello hello) {
    Channel channel = ctx.channel();
    ReplicaId replica = hello.replica();
    Optional<PeerMessage.Refused> refusal =
        peering
            .greeting()
            .judge(
                hello,
                peers.names(),
                arrivals.other(replica.dc(), channel),
                peering
                    .tls()
                    .filter(tls -> tls.accept().isRequired() || TlsContext.isOn(channel))
                    .map(tls -> TlsName.ofOtherEnd(channel)));
    if (refusal.isPresent()) {
      refuse(ctx, replica, refusal.get());
      return;
    }
    IdentityLine line =
        new IdentityLine(
            channel,
            () -> ended,
            () -> letIn(ctx, hello),
            why ->
                refuse(
                    ctx,
                    replica,
                    new PeerMessage.Refused(ErrorCode.DUPLICATE_DC, why, replica.incarnation())),
            () -> close(ctx));
    greeted = line;
    start = hello.start();
    guard.greeted();
    heartbeat.greeted();
    heartbeat.busy(true); // for as long as other processes of the same name are probed
    PeerIdentities.PeerProcess process =
        new PeerIdentities.PeerProcess(
            replica, hello.start(), hello.former(), PeerWire.host(channel));
    peering.identities().greeted(line, process, PeerWire.nowNanos(ctx)).forEach(Runnable::run);
    if (sender == null && !ended) {
      heartbeat.give(); // the waiting process must not count this one as out of reach
    }
  }

  private void letIn(ChannelHandlerContext ctx, PeerMessage.Hello hello) {
    Channel channel = ctx.channel();
    ReplicaId replica = hello.replica();
    Peer peer = peers.all().get(replica.dc());
    if (peer == null) { // the datacenter was removed while it waited
      close(ctx);
      return;
    }
    if (!arrivals.replace(replica, hello.start(), hello.dial(), channel)) {
      LOG.debug("connection from {} closed: a later one is open", replica);
      close(ctx);
      return;
    }
    sender = new Sender(replica, peer);
    setFrameBytesMax(PeerTransport.FRAME_BYTES_MAX);
    heartbeat.busy(false);
    peering.greeting().met(replica).forEach(Runnable::run);
    peering.greeting().heard(replica, hello.protocolVersion());
    peer.dialler().met(replica);
    counter.countFor(peer.traffic());
    keyspaces.setMine(peering.fingerprints().apply(replica.dc()));
    keyspaces.setTheirs(hello.keyspaces());
    keyspaces.compare(replica.dc());
    PeerWire.write(channel, peering.greeting().welcome(hello, keyspaces.mine()));
  }

  /**
   * Sends the fingerprints of the present keyspaces if they differ from those sent before. In the
   * loop.
   */
  private void changed(Channel channel) {
    Sender from = sender;
    if (from == null || ended || from.peer.isRemoved()) {
      return;
    }
    if (keyspaces.haveChanged(from.replica.dc())) {
      keyspaces.compare(from.replica.dc());
      PeerWire.write(channel, new PeerMessage.Keyspaces(keyspaces.mine()));
    }
  }

  /** Notes that the keyspaces of this datacenter have changed. For any thread. */
  static void keyspacesChanged(Channel channel) {
    PeerWire.inLoop(
        channel,
        () -> {
          Acceptor acceptor = channel.pipeline().get(Acceptor.class);
          if (acceptor != null) {
            acceptor.changed(channel);
          }
        });
  }

  /** Closes a connection if the datacenter that dialled it was removed. In the loop. */
  static void closeIfRemoved(Channel channel) {
    Acceptor acceptor = channel.pipeline().get(Acceptor.class);
    if (acceptor != null && acceptor.sender != null && acceptor.sender.peer.isRemoved()) {
      acceptor.leave(acceptor.sender.replica, channel);
    }
  }

  /**
   * Ends the connection at once: closing may take a while, and the datacenter may be added again.
   */
  private void leave(ReplicaId removed, Channel channel) {
    LOG.info("connection from {} closed: the datacenter was removed", removed);
    arrivals.left(removed.dc(), channel);
    ended = true;
    end();
    channel.close();
  }

  private void refuse(ChannelHandlerContext ctx, ReplicaId from, PeerMessage.Refused refusal) {
    // Two processes of one name are refused in turn, so the start number is part of the subject.
    if (peering.said().isNews("<" + from + " " + start, refusal.message())) {
      LOG.warn("{} is refused: {}: {}", from, refusal.code(), refusal.message());
    }
    PeerWire.write(ctx.channel(), refusal);
    ended = true;
    end();
    ctx.executor().schedule(() -> ctx.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void close(ChannelHandlerContext ctx) {
    ended = true;
    end();
    ctx.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    super.channelInactive(ctx);
    inflater.end();
    if (greeted != null) {
      peering.identities().left(greeted, PeerWire.nowNanos(ctx)).forEach(Runnable::run);
    }
    if (sender != null) {
      arrivals.left(sender.replica.dc(), ctx.channel());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    OutOfMemory.report(cause);
    if (!ended && sender != null) {
      LOG.warn("connection from {} closed: {}", sender.replica, PeerWire.reason(cause));
    } else if (!ended) {
      port.log(ctx.channel(), PeerWire.reason(cause)); // anybody can cause that, again and again
    }
    close(ctx);
  }
}
