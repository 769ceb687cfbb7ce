package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.core.ReplicaId;
import io.osier.core.net.HostPort;
import io.osier.propagation.net.link.DialAttempts;
import io.osier.propagation.net.link.FrameNumbering;
import io.osier.propagation.net.link.LinkBuffer;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PeerWire;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Dials one peer again and again, and sends over the connection that it has. {@link DialAttempts}
 * says when to dial, {@link LinkBuffer} how much may wait to leave. Methods that say so are for any
 * thread, the others for the loop.
 */
final class Dialler {
  private static final Logger LOG = LoggerFactory.getLogger(Dialler.class);
  static final int CONNECT_MILLIS = 5_000;

  /** While an older version of the protocol is spoken, the newest is tried at this interval. */
  static final long DOUBT_MILLIS = 5_000;

  /** A note is dropped while more than this waits to leave, since it would come late. */
  private static final long BEFORE_NOTE_BYTES_MAX = 4L << 20;

  /** The most bytes of clients' messages that wait to leave. */
  static final long MESSAGES_BYTES_MAX = 1L << 20;

  /** The bytes that a waiting message takes besides its content. */
  private static final int MESSAGE_BYTES = 256;

  private final String dc;
  private final InetSocketAddress address;
  private final PeeringContext peering;
  private final LinkTraffic traffic;
  private final DialAttempts dialling;
  private final FormerLife former;
  private final LinkBuffer buffer =
      new LinkBuffer(LinkBuffer.BYTES_MAX, LinkBuffer.LARGE_BYTES_MIN);
  private final LinkBuffer messages = new LinkBuffer(MESSAGES_BYTES_MAX, Integer.MAX_VALUE);

  /** The connection over which frames can be sent; null while there is none. */
  private volatile @Nullable Way way;

  // These fields are for the loop.
  private boolean started;
  private boolean ended;

  /** Whether an attempt is in progress. */
  private boolean trying;

  /** The attempt's connection if it is open, with its handler in {@link #dialled}. */
  private @Nullable Channel channel;

  private volatile @Nullable DialledConnection dialled;

  /**
   * A connection over which frames can be sent.
   *
   * @param peer the process at the other end
   * @param dialled the handler that greeted over it
   */
  private record Way(Channel channel, ReplicaId peer, DialledConnection dialled) {}

  Dialler(String dc, InetSocketAddress address, LinkTraffic traffic, PeeringContext peering) {
    this.dc = dc;
    this.address = address;
    this.traffic = traffic;
    this.peering = peering;
    this.former = new FormerLife(dc, peering.listener(), peering.network());
    this.dialling = new DialAttempts(peering.self(), peering.greeting().newest());
  }

  String dc() {
    return dc;
  }

  /** Returns the counts of its connections. */
  LinkTraffic traffic() {
    return traffic;
  }

  /** Whether it dials this address; a name is looked up with each dial. For any thread. */
  boolean isTo(InetSocketAddress other) {
    return host().equals(other.getHostString()) && port() == other.getPort();
  }

  String host() {
    return address.getHostString();
  }

  /** Returns the port that it dials. */
  int port() {
    return address.getPort();
  }

  /** Whether frames can be sent. For any thread. */
  boolean isUp() {
    return way != null;
  }

  /**
   * Whether nothing can be sent yet because one end still probes other processes of the other one's
   * name. For any thread.
   */
  boolean isHeld() {
    DialledConnection greets = dialled;
    return !isUp() && greets != null && greets.isHeld();
  }

  /** Returns how many bytes wait to leave. For any thread. */
  long bufferedBytes() {
    return buffer.bytes() + messages.bytes();
  }

  /** Begins to dial, if it has not begun. */
  void start() {
    if (!started) {
      started = true;
      open();
    }
  }

  /**
   * Stops dialling and closes the connection, since the datacenter is no peer any more or has
   * another address. Tells the listener now and not when the connection is closed, which may take a
   * while: by then the peer may be connected in another way.
   */
  void end() {
    ended = true;
    Way last = way;
    boolean wasUp = last != null;
    way = null;
    DialledConnection greets = dialled;
    if (channel != null && greets != null) {
      greets.leave(channel);
    }
    if (last != null) {
      last.dialled.leave(last.channel);
    }
    former.end();
    if (wasUp) {
      LOG.info(
          "connection to {} at {} closed: the datacenter was removed, or its address has changed",
          dc,
          new HostPort(host(), port()));
      peering.listener().down(dc);
    }
  }

  /** Whether it was ended. */
  boolean isEnded() {
    return ended;
  }

  private void open() {
    if (!ended && !trying && !peering.network().isClosed()) {
      trying = true;
      peering
          .network()
          .dial(address, CONNECT_MILLIS, this::opened, cause -> notReached(PeerWire.reason(cause)));
    }
  }

  private void opened(Channel opened) {
    DialledConnection greets = new DialledConnection(peering, this);
    channel = opened;
    dialled = greets;
    greets.addTo(opened);
  }

  private void notReached(String why) {
    if (!ended && !peering.network().isClosed() && !isUp() && dialling.failed(why)) {
      LOG.info("{} cannot be reached, and is tried again and again: {}", dc, why);
    }
    trying = false;
    openLater();
  }

  /** Tries again after a pause, if there is no connection and no attempt. */
  void openLater() {
    if (ended || trying) {
      return;
    }
    Way over = way;
    if (over == null) {
      peering.network().later(this::openIfDown, dialling.pauseMillis(peering.network().random()));
    } else if (dialling.isOlder()) {
      peering.network().later(() -> doubt(over), DOUBT_MILLIS);
    }
  }

  private void openIfDown() {
    if (!isUp()) {
      open();
    }
  }

  /**
   * Tries the newest version on a second connection while an older one is spoken: the other end may
   * have been upgraded between its refusal and its welcome. The first connection goes on meanwhile.
   */
  private void doubt(Way over) {
    if (over == way) {
      open();
    }
  }

  /** Notes that frames can be sent over this connection from now on. */
  void welcomed(ReplicaId replica, Channel over, DialledConnection dialled) {
    trying = false;
    channel = null;
    this.dialled = null;
    former.welcomed();
    Way before = way;
    if (before != null) {
      way = null;
      before.dialled.leave(before.channel);
      peering.listener().down(dc);
    }
    dialling.welcomed(dialled.version());
    peering.greeting().welcomed(replica, dialled.version());
    way = new Way(over, replica, dialled);
    openLater(); // in case an older version is spoken
  }

  /**
   * Notes that this incarnation of the peer was accepted on a connection that it dialled. If this
   * end's connection is to a former incarnation, nobody is at its other end any more, which may
   * show only after the dead interval. Until then the new incarnation would get nothing from here,
   * and could ask for nothing; so that connection is closed.
   */
  void met(ReplicaId replica) {
    Way over = way;
    if (over != null && over.peer.incarnation() < replica.incarnation()) {
      LOG.info("connection to {} closed: the datacenter has restarted as {}", over.peer, replica);
      way = null;
      dialling.lost();
      over.dialled.leave(over.channel);
      peering.listener().down(dc);
      open();
    }
  }

  /** Returns the version that is spoken on the present connection; 0 if there is none. */
  int spoken() {
    Way over = way;
    return over == null ? 0 : over.dialled.version();
  }

  /** Notes that the keyspaces of this datacenter have changed. For any thread. */
  void keyspacesChanged() {
    Way over = way;
    if (over != null) {
      PeerWire.inLoop(over.channel, () -> over.dialled.changed(over.channel));
    }
  }

  /**
   * Slows the attempts down, since the other end is not the process of its name that is accepted.
   */
  void slowDown() {
    dialling.slowDown();
  }

  /** Returns the tracker of connections of this datacenter's former incarnations. */
  FormerLife former() {
    return former;
  }

  /** See {@link DialAttempts#refused}. */
  boolean refused(PeerMessage.Refused refusal) {
    return !isUp() && dialling.refused(refusal, oldest());
  }

  /** Returns the oldest version that may be spoken, given the names of all other datacenters. */
  private int oldest() {
    return peering.greeting().oldest(peering.others().names());
  }

  /** Returns the greeting for a connection that was just opened. */
  PeerMessage.Hello hello() {
    int version = isUp() ? peering.greeting().newest() : Math.max(oldest(), dialling.version());
    return peering.greeting().hello(dc, peering.fingerprints().apply(dc), version);
  }

  /** See {@link DialAttempts#isPlain}. */
  boolean isPlain() {
    return dialling.isPlain();
  }

  /** See {@link DialAttempts#otherWay}. */
  void otherWay() {
    if (!isUp()) {
      dialling.otherWay();
    }
  }

  /** Notes that a connection has ended; returns whether frames were sent over it. */
  boolean lost(Channel over) {
    if (channel == over) {
      channel = null;
      dialled = null;
      trying = false;
    }
    Way lost = way;
    if (lost == null || lost.channel != over) {
      return false;
    }
    dialling.lost();
    way = null;
    return true;
  }

  /** Sends a note, unless much waits to leave: a late note is useless. For any thread. */
  void send(PeerMessage.Note message) {
    Way over = way;
    int bytes = message.content().length;
    if (over != null && buffer.bytes() <= BEFORE_NOTE_BYTES_MAX && buffer.add(bytes)) {
      PeerWire.write(over.channel, message).addListener(f -> buffer.left(bytes));
    }
  }

  /**
   * Sends a client's message, unless many wait to leave, since updates wait behind them. For any
   * thread.
   *
   * @return whether it is sent
   */
  boolean sendMessage(PeerMessage.Note message) {
    Way over = way;
    int bytes = MESSAGE_BYTES + message.content().length;
    if (over == null || !messages.add(bytes)) {
      return false;
    }
    PeerWire.write(over.channel, message).addListener(f -> messages.left(bytes));
    return true;
  }

  /**
   * Sends a client's request. For any thread.
   *
   * @return whether it is sent
   */
  boolean ask(PeerMessage.Ask message) {
    Way over = way;
    if (over == null || over.dialled.version() < PeerVersions.FORWARDS) {
      return false;
    }
    PeerWire.write(over.channel, message);
    return true;
  }

  /**
   * Sends a frame if the incarnation that it is for is connected; otherwise drops it. For any
   * thread.
   */
  void send(ReplicaId to, FrameNumbering.Unnumbered message) {
    Way over = way;
    if (over == null || !over.peer.equals(to)) {
      return;
    }
    int bytes = message.frame().length;
    if (!buffer.add(bytes)) {
      LOG.warn("{} does not read what it is sent (the buffer is full); connection closed", dc);
      over.channel.close();
      return;
    }
    over.channel.writeAndFlush(message).addListener(f -> buffer.left(bytes));
  }
}
