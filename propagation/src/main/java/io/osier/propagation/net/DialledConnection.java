package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireInput;
import io.osier.core.memory.OutOfMemory;
import io.osier.core.net.FrameReader;
import io.osier.core.net.Framing;
import io.osier.core.tls.TlsName;
import io.osier.propagation.net.link.ByteCounter;
import io.osier.propagation.net.link.FrameNumbering;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.LinkCompressor;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PeerWire;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Handles a connection that this datacenter dialled: greets, and takes the welcome, answers and
 * pongs. Used by the channel's loop, except for methods that say otherwise.
 */
final class DialledConnection extends FrameReader {
  private static final Logger LOG = LoggerFactory.getLogger(DialledConnection.class);

  /** Largest answer to a client, in bytes, with its head. */
  private static final int ANSWER_BYTES_MAX = Framing.CLIENT_FRAME_BYTES_MAX + 16;

  private final PeeringContext peering;
  private final Dialler dialler;
  private final String dc;
  private final Heartbeat heartbeat = Heartbeat.asking();
  private final FrameNumbering numbering = new FrameNumbering();
  private final LinkCompressor compressor;

  /** How this connection is encrypted; empty if it is not. */
  private final Optional<PeerTls> tls;

  /** The version of the protocol in which it has greeted; 0 before. */
  private int version;

  private boolean answered;
  private boolean ended;

  /** See {@link #isHeld}. */
  private volatile boolean held;

  /** The connection's line in {@link PeerIdentities}; null until the welcome has come. */
  private @Nullable IdentityLine answering;

  /** The replica that the other end was accepted as; null before. */
  private @Nullable ReplicaId peer;

  private final AgreedKeyspaces keyspaces;

  DialledConnection(PeeringContext peering, Dialler dialler) {
    super(Greeting.BYTES_MAX); // no answer to a greeting is larger
    this.peering = peering;
    this.dialler = dialler;
    this.dc = dialler.dc();
    this.keyspaces = new AgreedKeyspaces(peering);
    this.compressor = new LinkCompressor(dialler.traffic());
    this.tls = peering.tls().filter(t -> t.dial().isRequired() || !dialler.isPlain());
  }

  /** Returns the version of the protocol in which it has greeted; 0 before. */
  int version() {
    return version;
  }

  /**
   * Whether the other end has given a sign of life while one of the two has not decided yet whether
   * to accept the other. For any thread.
   */
  boolean isHeld() {
    return held;
  }

  /** Adds this handler, and those that belong before it, to a new connection's pipeline. */
  void addTo(Channel channel) {
    ByteCounter counter = new ByteCounter(dialler.traffic());
    channel.pipeline().addLast(counter);
    tls.ifPresent(
        t ->
            channel
                .pipeline()
                .addLast(
                    t.dial()
                        .dial(
                            channel.alloc(),
                            dialler.host(),
                            dialler.port(),
                            Dialler.CONNECT_MILLIS)));
    channel.pipeline().addLast(heartbeat, compressor, PeerWire.flushes(), numbering, this);
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (tls.isEmpty()) {
      greet(ctx);
    }
  }

  private void greet(ChannelHandlerContext ctx) {
    if (dialler.isEnded()) { // it was ended while the connection was made
      close(ctx);
      return;
    }
    PeerMessage.Hello hello = dialler.hello();
    version = hello.protocolVersion();
    keyspaces.setMine(hello.keyspaces());
    numbering.told(hello.keyspaces());
    PeerWire.write(ctx.channel(), hello);
  }

  /**
   * Greets only if the certificate names the right datacenter, since the greeting names keyspaces.
   */
  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) throws Exception {
    if (event instanceof SslHandshakeCompletionEvent shaken && shaken.isSuccess()) {
      Optional<String> wrong = peering.greeting().misnamed(dc, TlsName.ofOtherEnd(ctx.channel()));
      if (wrong.isEmpty()) {
        greet(ctx);
      } else {
        if (peering.said().isNews(">" + dc, wrong.get())) {
          LOG.error("at the address of {}: {}", dc, wrong.get());
        }
        close(ctx);
      }
    }
    super.userEventTriggered(ctx, event);
  }

  @Override
  protected void frame(ChannelHandlerContext ctx, WireInput content) {
    PeerMessage message = PeerMessage.decode(content);
    answered = true;
    switch (message) {
      case PeerMessage.Welcome w -> welcomed(ctx, w);
      case PeerMessage.Refused r -> refused(ctx, r);
      case PeerMessage.Pong p -> {}
      case PeerMessage.Answer a when peer != null && !ended ->
          peering.listener().answered(peer, a.content());
      case PeerMessage.Probe p -> PeerWire.write(ctx.channel(), new PeerMessage.Alive(p.number()));
      case PeerMessage.Alive a -> {
        if (answering != null) {
          peering
              .identities()
              .answered(answering, a.number(), PeerWire.nowNanos(ctx))
              .forEach(Runnable::run);
        }
      }
      case PeerMessage.Keyspaces k -> {
        keyspaces.setTheirs(k.fingerprints());
        compare();
      }
      default -> {
        LOG.warn("{} sent a message that only the dialling side may send; connection closed", dc);
        close(ctx);
      }
    }
    held = !ended && peer == null;
  }

  @Override
  protected void frames(ChannelHandlerContext ctx) {}

  private void welcomed(ChannelHandlerContext ctx, PeerMessage.Welcome welcome) {
    ReplicaId replica = welcome.replica();
    if (!replica.dc().equals(dc)) {
      LOG.error("at the address of {} answers {}; check the peers' addresses", dc, replica);
      close(ctx);
      return;
    }
    Optional<String> givenUp = peering.greeting().givenUp(replica);
    if (givenUp.isPresent()) {
      if (peering.said().isNews(">" + dc, givenUp.get())) {
        LOG.error(givenUp.get());
      }
      close(ctx);
      return;
    }
    if (answering != null) {
      close(ctx);
      return;
    }
    IdentityLine line =
        new IdentityLine(
            ctx.channel(),
            () -> ended,
            () -> isUp(ctx, welcome),
            why -> isSecond(ctx, why),
            () -> close(ctx));
    answering = line;
    // The next messages may refer to them.
    keyspaces.setTheirs(welcome.keyspaces().orElse(keyspaces.mine()));
    heartbeat.greeted(); // this end pings while other processes of the same name are probed
    PeerIdentities.PeerProcess process =
        new PeerIdentities.PeerProcess(replica, welcome.start(), welcome.former(), dialler.host());
    peering.identities().greeted(line, process, PeerWire.nowNanos(ctx)).forEach(Runnable::run);
  }

  /**
   * Closes the connection, since the other end is a second process of its name. It is told so when
   * it dials itself.
   */
  private void isSecond(ChannelHandlerContext ctx, String why) {
    if (peering.said().isNews(">" + dc, why)) {
      LOG.error("at the address of {}: {}", dc, why);
    }
    dialler.slowDown();
    close(ctx);
  }

  private void isUp(ChannelHandlerContext ctx, PeerMessage.Welcome welcome) {
    ReplicaId replica = welcome.replica();
    LOG.info("connected to {}", replica);
    peering.said().end(">" + dc);
    int newest = peering.greeting().newest();
    if (version == newest) {
      peering.said().end("v" + dc);
    } else if (peering.said().isNews("v" + dc, "" + version)) {
      LOG.warn(
          "{} is spoken to in version {} of the peer protocol, which is older than this one's ({}):"
              + " it refuses newer ones; upgrade it",
          dc,
          version,
          newest);
    }
    peering.greeting().met(replica).forEach(Runnable::run);
    peer = replica;
    if (version >= PeerVersions.COMPRESSED) {
      compressor.begin(peering.others().compressed(), PeerWire.nowNanos(ctx));
    }
    setFrameBytesMax(ANSWER_BYTES_MAX);
    // First, since it reports the former connection as down.
    dialler.welcomed(replica, ctx.channel(), this);
    keyspaces.compare(dc);
    held = false;
    heartbeat.give();
    peering.listener().up(replica, List.copyOf(keyspaces.agreed()));
    changed(ctx.channel()); // what has changed since the greeting
  }

  /**
   * Sends the fingerprints of the present keyspaces if they differ from those sent before. In the
   * loop.
   */
  void changed(Channel channel) {
    if (ended) {
      return;
    }
    if (keyspaces.haveChanged(dc)) {
      numbering.told(keyspaces.mine());
      PeerWire.write(channel, new PeerMessage.Keyspaces(keyspaces.mine()));
      compare();
    }
  }

  private void compare() {
    if (peer == null) {
      return;
    }
    Set<String> before = keyspaces.agreed();
    keyspaces.compare(dc);
    Set<String> agreed = keyspaces.agreed();
    List<String> parted = before.stream().filter(k -> !agreed.contains(k)).sorted().toList();
    List<String> up = agreed.stream().filter(k -> !before.contains(k)).sorted().toList();
    if (!parted.isEmpty()) {
      peering.listener().parted(dc, parted);
    }
    if (!up.isEmpty()) {
      peering.listener().up(peer, up);
    }
  }

  private void refused(ChannelHandlerContext ctx, PeerMessage.Refused refusal) {
    boolean isHeard = dialler.refused(refusal);
    String why = why(refusal);
    boolean isToBeSaid = isHeard || refusal.code() != ErrorCode.VERSION_MISMATCH;
    if (isToBeSaid && peering.said().isNews(">" + dc, why)) {
      LOG.error(
          "{} refuses this datacenter, which goes on trying: {}: {}", dc, refusal.code(), why);
    }
    boolean isDuplicate = refusal.code() == ErrorCode.DUPLICATE_DC;
    long own = peering.self().incarnation();
    if (isDuplicate && refusal.newest() <= own) {
      dialler.former().second(refusal.message(), refusal.newest() < own);
    }
    if (isHeard && !(isDuplicate && refusal.newest() == own)) {
      peering.listener().rejected(dc, new OsierException(refusal.code(), dc + ": " + why));
    }
    close(ctx);
  }

  private String why(PeerMessage.Refused refusal) {
    String name = peering.greeting().hardest(peering.others().names());
    int needed = PeerVersions.oldestNaming(name);
    boolean isName = refusal.code() == ErrorCode.VERSION_MISMATCH && needed > PeerVersions.OLDEST;
    return isName
        ? "%s (the name '%s' needs version %d: upgrade %s first)"
            .formatted(refusal.message(), name, needed, dc)
        : refusal.message();
  }

  private void close(ChannelHandlerContext ctx) {
    leave(ctx.channel());
  }

  /** Takes no more messages, and closes the connection. In the loop. */
  void leave(Channel channel) {
    ended = true;
    held = false;
    end();
    channel.close();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    super.channelInactive(ctx);
    held = false;
    if (answering != null) {
      peering.identities().left(answering, PeerWire.nowNanos(ctx)).forEach(Runnable::run);
    }
    if (dialler.lost(ctx.channel())) {
      LOG.info("connection to {} lost", dc);
      peering.listener().down(dc);
    } else if (!answered) {
      if (mayBePlain() && (tls.isEmpty() || version == 0)) {
        dialler.otherWay();
      }
    }
    dialler.openLater();
  }

  /** Whether the other end may or may not speak TLS, while the cluster changes over. */
  private boolean mayBePlain() {
    return peering.tls().filter(t -> !t.dial().isRequired()).isPresent();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    OutOfMemory.report(cause);
    String why = PeerWire.reason(cause);
    // Each attempt may end in this way: it is logged once, and again after a connection.
    if (!ended && peering.said().isNews(">" + dc, why)) {
      LOG.warn("connection to {} closed: {}", dc, why);
    }
    close(ctx);
  }
}
