package io.osier.propagation.net;

import io.netty.channel.Channel;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.Codec;
import io.osier.core.net.Network;
import io.osier.propagation.net.link.FrameNumbering;
import io.osier.propagation.net.link.Heartbeat;
import io.osier.propagation.net.link.KeyspaceAgreement;
import io.osier.propagation.net.link.LinkCompressor;
import io.osier.propagation.net.link.LinkTraffic;
import io.osier.propagation.net.link.PeerMessage;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.propagation.net.link.PortGuard;
import io.osier.propagation.net.link.PortLimits;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.FrameCodec;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections to and from the other datacenters. Each datacenter dials every other, and sends
 * its frames only on the connection that it dialled; the other end of that carries the handshake's
 * answer and pongs. So the two directions of a link fail one by one, as on a real network.
 *
 * <p>Handshake: {@code Hello} with version, cluster, name and incarnation, and the keyspaces'
 * policies; {@code Welcome} or {@code Refused} with the reason ({@link Greeting}). A keyspace on
 * which the two do not agree is not replicated between them, and the others are ({@link
 * KeyspaceAgreement}). A connection over which no byte comes for the dead interval is closed
 * ({@code LinkLiveness}). Thread-safe.
 */
public final class PeerTransport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(PeerTransport.class);

  /** Largest frame between datacenters, in bytes: a partition's frame, and room. */
  public static final int FRAME_BYTES_MAX = Codec.RECORD_BYTES_MAX + (1 << 20);

  /** Largest note, in bytes. */
  public static final int NOTE_BYTES_MAX = PeerMessage.NOTE_BYTES_MAX;

  private final PeeringContext peering;
  private final Arrivals arrivals = new Arrivals();
  private final Network network;
  private final Peers peers = new Peers();
  private final Network.Port server;
  private final LongAdder notEncoded = new LongAdder();
  private volatile boolean dials;

  /**
   * Binds the port; {@link #dial} starts to dial.
   *
   * @param listen where other datacenters dial; port 0 for any free one
   * @param peers the others' addresses by name, until {@link #setPeers}
   * @param fingerprints returns for a peer's name the fingerprints of the keyspaces that both hold
   * @param tls empty for none
   * @param network is closed with this object, and if its creation fails
   * @throws OsierException CONFIGURATION if the address cannot be bound
   */
  public PeerTransport(
      ProcessIdentity process,
      InetSocketAddress listen,
      Map<String, InetSocketAddress> peers,
      Function<String, List<String>> fingerprints,
      PortLimits limits,
      PeerListener listener,
      Optional<PeerTls> tls,
      Network network) {
    this.network = network;
    this.peering =
        new PeeringContext(
            process.replica(),
            fingerprints,
            new Greeting(process),
            new LogThrottle(),
            this.peers,
            listener,
            tls,
            network);
    PortGuard port = new PortGuard("osier.listen.peer-connections: the peer port", limits);
    this.peers.set(checked(peers), peering);
    try {
      this.server = network.listen(listen, channel -> opened(channel, port));
    } catch (Throwable e) {
      network.close();
      throw e;
    }
  }

  private void opened(Channel channel, PortGuard port) {
    if (port.admit(channel)) {
      new Acceptor(peering, peers, arrivals, port).addTo(channel);
    } else {
      channel.close();
    }
  }

  /** Sends the changed fingerprints to every peer, and tells the listener what follows. */
  public void keyspacesChanged() {
    peers.all().values().forEach(peer -> peer.dialler().keyspacesChanged());
    arrivals.channels().forEach(Acceptor::keyspacesChanged);
  }

  /**
   * Sets how many bytes a second of the frames to each peer that speaks version 14 or a newer one
   * are compressed. Applies to connections that are made from now on; the default is {@link
   * LinkCompressor#BYTES_PER_SECOND}.
   *
   * @param bytesPerSecond 0 for none
   */
  public void compress(int bytesPerSecond) {
    peers.setCompressed(bytesPerSecond);
  }

  /** Starts to dial the peers. To be called when the listener is ready. */
  public void dial() {
    dials = true;
    network.later(this::follow, 0);
  }

  /**
   * Sets the other datacenters. A new one is dialled, once {@link #dial} was called, and accepted
   * when it dials. One that is gone is sent nothing more and is refused when it greets; its frames
   * and notes are no longer handed on, except those that are being handed on now. Its connections
   * are closed soon after, and then the listener hears that it is down, if it was up (before that
   * it may still hear that it is up, or of its keyspaces). One with another address is down, and is
   * dialled there; its own connection to here stays. Connections with all others stay as they are.
   * One that was removed and added again is down before it is up.
   *
   * <p>Returns at once, without calling the listener. Of concurrent calls, one is the last.
   *
   * @param incarnationsMin by name, the oldest incarnation that is accepted, for those of which
   *     some were given up; none is accepted of a datacenter that is gone
   * @throws IllegalArgumentException if this datacenter is among the peers; then nothing has
   *     changed
   */
  public void setPeers(Map<String, InetSocketAddress> peers, Map<String, Long> incarnationsMin) {
    checked(peers);
    peering.greeting().setIncarnationsMin(incarnationsMin);
    setPeers(peers);
  }

  /** As the other method, without changing which incarnations are accepted. */
  public void setPeers(Map<String, InetSocketAddress> peers) {
    this.peers.set(checked(peers), peering);
    network.later(this::follow, 0);
  }

  private Map<String, InetSocketAddress> checked(Map<String, InetSocketAddress> others) {
    if (others.containsKey(peering.self().dc())) {
      throw new IllegalArgumentException(peering.self().dc() + " is not a peer of itself");
    }
    return others;
  }

  /**
   * Ends the diallers of peers that are gone, and then starts those of new ones: a peer that is
   * both must be down before it is up. In the loop.
   */
  private void follow() {
    for (Dialler dialler : peers.takeEnded()) {
      peering.forgetSaid(dialler.dc());
      try {
        dialler.end();
      } catch (RuntimeException e) {
        LOG.error("closing the connection to {} failed", dialler.dc(), e);
      }
    }
    arrivals.channels().forEach(Acceptor::closeIfRemoved);
    Map<String, Peer> now = peers.all();
    peering.greeting().forgetOthers(now.keySet()).forEach(Runnable::run);
    if (dials) {
      now.values().forEach(peer -> peer.dialler().start());
    }
  }

  private @Nullable Dialler dialler(String dc) {
    Peer peer = peers.all().get(dc);
    return peer == null ? null : peer.dialler();
  }

  /** Returns the port that other datacenters dial. */
  public int port() {
    return server.address().getPort();
  }

  /** Returns to how many peers frames can be sent at present. */
  public int connected() {
    return (int) peers.all().values().stream().filter(p -> p.dialler().isUp()).count();
  }

  /** Whether frames can be sent to a peer. */
  public boolean isConnected(String dc) {
    Dialler dialler = dialler(dc);
    return dialler != null && dialler.isUp();
  }

  /**
   * Whether some peer is in reach and alive, but it is not decided yet whether the two accept each
   * other: one of them may probe other processes of the name first, for {@link
   * Heartbeat#DEAD_MILLIS} at most.
   */
  public boolean isHeld() {
    return peers.all().values().stream().anyMatch(p -> p.dialler().isHeld());
  }

  /** Sets by name the versions of the protocol that datacenters have published. */
  public void setVersions(Map<String, Integer> versions) {
    peering.greeting().setTold(versions);
  }

  /**
   * Returns by peer the version that is spoken on the connection to it, without unconnected peers.
   */
  public SortedMap<String, Integer> spoken() {
    SortedMap<String, Integer> spoken = new TreeMap<>();
    peers.all().forEach((dc, peer) -> spoken.put(dc, peer.dialler().spoken()));
    spoken.values().removeIf(version -> version == 0);
    return spoken;
  }

  /** Returns the version that a datacenter speaks as far as is known; the oldest if nothing is. */
  public int version(String dc) {
    return peering.greeting().version(dc);
  }

  /** Returns the version that a datacenter has spoken or published; 0 if none is known. */
  public int knownVersion(String dc) {
    return peering.greeting().knownVersion(dc);
  }

  /** Returns by peer the bytes that its connections have carried so far, with their framing. */
  public Map<String, LinkTraffic> traffic() {
    return peers.traffic();
  }

  /**
   * Returns how many frames were dropped because they could not be encoded: each is a fault of
   * Osier.
   */
  public long notEncoded() {
    return notEncoded.sum();
  }

  /** Returns by peer the bytes that were sent and have not left this process. */
  public Map<String, Long> buffered() {
    Map<String, Long> buffered = new TreeMap<>();
    peers.all().forEach((dc, peer) -> buffered.put(dc, peer.dialler().bufferedBytes()));
    return buffered;
  }

  /**
   * Sends a partition's frame. It is dropped if that incarnation is not connected. It is also
   * dropped if it cannot be encoded, which is a fault from which nothing else must suffer.
   */
  public void send(ReplicaId to, String keyspace, int partition, Frame frame) {
    if (!isConnected(to.dc())) {
      return;
    }
    byte[] bytes;
    try {
      bytes = FrameCodec.encode(peering.self(), frame);
    } catch (RuntimeException e) {
      notEncoded.increment();
      LOG.error(
          "a frame ({}) of partition {} of {} cannot be sent to {}",
          frame.getClass().getSimpleName(),
          partition,
          keyspace,
          to,
          e);
      return;
    }
    send(to, keyspace, partition, bytes);
  }

  /** Sends an encoded frame. */
  void send(ReplicaId to, String keyspace, int partition, byte[] frame) {
    Dialler dialler = dialler(to.dc());
    if (dialler != null) {
      dialler.send(to, new FrameNumbering.Unnumbered(keyspace, partition, frame));
    }
  }

  /**
   * Sends a note of at most {@link #NOTE_BYTES_MAX} bytes to a datacenter's {@link
   * PeerListener#noted}. It is dropped if there is no connection, or if so much waits to leave that
   * it would come late.
   */
  public void note(String dc, byte[] content) {
    PeerMessage.Note note = checked(content);
    Dialler dialler = dialler(dc);
    if (dialler != null) {
      dialler.send(note);
    }
  }

  /**
   * Sends a message that a client has published, as a note of at most {@link #NOTE_BYTES_MAX}
   * bytes. Returns whether it is sent: that takes a connection on which {@link
   * PeerVersions#MESSAGES} or a newer version is spoken, and few messages that wait to leave.
   */
  public boolean message(String dc, byte[] content) {
    PeerMessage.Note note = checked(content);
    Dialler dialler = dialler(dc);
    return dialler != null
        && dialler.spoken() >= PeerVersions.MESSAGES
        && dialler.sendMessage(note);
  }

  /**
   * Sends a client's request to a datacenter's {@link PeerListener#asked}. If it is sent, the
   * listener hears the answer or that the datacenter is down, unless the datacenter never answers.
   *
   * @return whether it is sent: that takes a connection on which {@link PeerVersions#FORWARDS} or a
   *     newer version is spoken
   */
  public boolean ask(String dc, byte[] content) {
    Dialler dialler = dialler(dc);
    return dialler != null && dialler.ask(new PeerMessage.Ask(content));
  }

  /** Whether clients' requests can be sent to a datacenter now. */
  public boolean mayAsk(String dc) {
    Dialler dialler = dialler(dc);
    return dialler != null && dialler.spoken() >= PeerVersions.FORWARDS;
  }

  /** Runs a task later, in the loop that serves the connections. */
  public void later(Runnable task, long millis) {
    network.later(task, millis);
  }

  private static PeerMessage.Note checked(byte[] note) {
    if (note.length > NOTE_BYTES_MAX) {
      throw new IllegalArgumentException("a note of " + note.length + " bytes is too large");
    }
    return new PeerMessage.Note(note);
  }

  @Override
  public void close() {
    server.close();
    network.close();
  }
}
