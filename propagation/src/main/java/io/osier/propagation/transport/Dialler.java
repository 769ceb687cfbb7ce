package io.osier.propagation.transport;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.osier.core.ReplicaId;
import java.net.InetSocketAddress;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to one peer: dials it again and again, and sends over the connection that it has. {@link
 * Dialling} says when, {@link LinkBuffer} how much may wait to leave. Sending is for any thread,
 * the rest for the loop.
 */
final class Dialler {
  private static final Logger LOG = LoggerFactory.getLogger(Dialler.class);
  static final int CONNECT_MILLIS = 5_000;

  /** A note would come late behind more. */
  private static final long BEFORE_NOTE_BYTES_MAX = 4L << 20;

  private final String dc;
  private final InetSocketAddress address;
  private final Peering peering;
  private final Loops loops;
  private final Dialling dialling;
  private final LinkBuffer buffer = new LinkBuffer();

  /** Where frames can be sent; null while there is no such connection. */
  private volatile @Nullable Way way;

  /**
   * A connection over which frames can be sent.
   *
   * @param peer the process at the other end
   * @param notes whether it was greeted in a version that knows notes
   */
  private record Way(Channel channel, ReplicaId peer, boolean notes) {}

  Dialler(String dc, InetSocketAddress address, Peering peering, Loops loops) {
    this.dc = dc;
    this.address = address;
    this.peering = peering;
    this.loops = loops;
    this.dialling = new Dialling(peering.self().incarnation());
  }

  String dc() {
    return dc;
  }

  /** The host that is dialled. */
  String host() {
    return address.getHostString();
  }

  /** The port that is dialled. */
  int port() {
    return address.getPort();
  }

  /** Whether frames can be sent. For any thread. */
  boolean isUp() {
    return way != null;
  }

  /** What waits to leave, in bytes. For any thread. */
  long bufferedBytes() {
    return buffer.bytes();
  }

  /** Dials. The name is looked up anew, and not by the thread that serves the connections. */
  void open() {
    if (!loops.isClosed()) {
      Thread.ofVirtual()
          .name("osier-dial-" + dc)
          .start(
              () -> {
                var resolved = new InetSocketAddress(address.getHostString(), address.getPort());
                loops.execute(() -> connect(resolved));
              });
    }
  }

  private void connect(InetSocketAddress resolved) {
    if (loops.isClosed()) {
      return;
    }
    if (resolved.isUnresolved()) {
      notReached("no address is known of the name " + resolved.getHostString());
      return;
    }
    new Bootstrap()
        .group(loops.group())
        .channel(NioSocketChannel.class)
        .option(ChannelOption.TCP_NODELAY, true)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_MILLIS)
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel ch) {
                new Dialled(peering, Dialler.this).addTo(ch);
              }
            })
        .connect(resolved)
        .addListener(
            f -> {
              if (!f.isSuccess()) {
                notReached(Wire.reason(f.cause()));
              }
            });
  }

  private void notReached(String why) {
    if (!loops.isClosed() && dialling.failed(why)) {
      LOG.info("{} cannot be reached, and is tried again and again: {}", dc, why);
    }
    openLater();
  }

  void openLater() {
    loops.schedule(this::open, dialling.pauseMillis(ThreadLocalRandom.current()));
  }

  /** Frames can be sent over this connection from now on. */
  void welcomed(ReplicaId replica, Channel over) {
    dialling.welcomed();
    way = new Way(over, replica, dialling.version() >= PeerMessage.DIALS_VERSION);
  }

  /** See {@link Dialling#refused}. */
  boolean refused(PeerMessage.Refused refusal) {
    return dialling.refused(refusal);
  }

  /** What a connection that was just opened says first. */
  PeerMessage.Hello hello() {
    return peering
        .greeting()
        .hello(dc, peering.fingerprints().apply(dc), dialling.version(), dialling.nextDial());
  }

  /** See {@link Dialling#unanswered}. */
  void unanswered() {
    dialling.unanswered();
  }

  /** A connection has ended; whether frames were sent over it. */
  boolean lost(Channel over) {
    Way lost = way;
    if (lost == null || lost.channel != over) {
      return false;
    }
    dialling.lost();
    way = null;
    return true;
  }

  /** Sends a note, unless much waits to leave: notes are of the moment. For any thread. */
  void send(PeerMessage.Note message) {
    Way over = way;
    int bytes = message.content().length;
    if (over != null
        && (over.notes || peering.greeting().knowsNotes(over.peer))
        && buffer.bytes() <= BEFORE_NOTE_BYTES_MAX
        && buffer.add(bytes)) {
      Wire.write(over.channel, message).addListener(f -> buffer.left(bytes));
    }
  }

  /** Sends what can be sent now. For any thread. */
  void send(PeerMessage.Data message) {
    Way over = way;
    if (over == null) {
      return;
    }
    int bytes = message.frame().length;
    if (!buffer.add(bytes)) {
      LOG.warn("{} takes nothing; connection closed", dc);
      over.channel.close();
      return;
    }
    Wire.write(over.channel, message).addListener(f -> buffer.left(bytes));
  }
}
