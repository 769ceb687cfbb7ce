package io.osier.datacenter.server;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.config.CopySettings;
import io.osier.datacenter.control.Placement;
import io.osier.datacenter.copies.Copies;
import io.osier.datacenter.copies.FollowCodec;
import io.osier.datacenter.copies.Followers;
import io.osier.datacenter.forward.ChangesElsewhere;
import io.osier.datacenter.forward.ForwardedRequest;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.frontend.AccessControl;
import io.osier.datacenter.frontend.ClientService;
import io.osier.datacenter.frontend.ForwardedRequests;
import io.osier.datacenter.frontend.Scripts;
import io.osier.datacenter.metrics.Snapshot;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.PeerTransport;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Connects forwarded requests with the transport: those that this datacenter sends to holders, and
 * those that others send here; each direction has half of {@code osier.memory.forwarded}.
 * Thread-safe.
 */
public final class Forwarding implements ForwardingHost, AutoCloseable {
  private static final Executor BESIDE = Thread::startVirtualThread;

  private final String self;
  private final Supplier<PeerTransport> transport;
  private final Supplier<Placement> placement;
  private final BiFunction<String, Integer, VersionVector> shownBefore;
  private final long bytes;
  private final Forwarder forwarder;
  private final Copies copies;
  private final Followers followers;
  private final ChangesElsewhere changes;

  /** Null until the request handler has been made. */
  private volatile @Nullable ForwardedRequests requests;

  /**
   * Makes the forwarding.
   *
   * @param transport returns the transport; called once requests are forwarded
   * @param placement returns the present holders of all keyspaces; cheap
   * @param keyspaces the keyspaces that are served here, by name
   * @param shownBefore returns what was visible here of a keyspace's partition before this
   *     datacenter gave the keyspace up
   * @param bytes the budget of both directions together
   * @param copied settings of copies
   * @param millis returns the datacenter's time, in milliseconds since 1970
   */
  public Forwarding(
      String self,
      Supplier<PeerTransport> transport,
      Supplier<Placement> placement,
      Map<String, KeyspaceShard> keyspaces,
      BiFunction<String, Integer, VersionVector> shownBefore,
      long bytes,
      CopySettings copied,
      LongSupplier millis) {
    this.self = self;
    this.transport = transport;
    this.placement = placement;
    this.shownBefore = shownBefore;
    this.bytes = bytes / 2;
    this.forwarder =
        new Forwarder(self, this, new ByteBudget(this.bytes), System::nanoTime, BESIDE);
    ReadCopies around = new ReadCopies(placement, keyspaces, forwarder, this);
    this.copies = new Copies(around, copied, millis);
    this.followers = new Followers(around, new ByteBudget(copied.bytes()), System::nanoTime);
    this.changes = new ChangesElsewhere(forwarder, this);
    forwarder.tell(
        (dc, request, partition, reply, size) -> {
          copies.answered(dc, request, partition, reply, size);
          changes.answered(dc, request, partition, reply, size);
        });
  }

  /** Returns the counts of forwarded requests, their times, of copies and of followers. */
  Snapshot.Elsewhere counts(List<Snapshot.Demand> demands) {
    return new Snapshot.Elsewhere(
        forwarder.counts(), copies.figures(), followers.figures(), demands);
  }

  Forwarder forwarder() {
    return forwarder;
  }

  /**
   * Returns the round trips to other datacenters, in milliseconds, by name; 0 for one that is not
   * measured yet, and starts to measure it.
   */
  Map<String, Double> wayMillis(Collection<String> dcs) {
    forwarder.measure(dcs);
    return dcs.stream()
        .collect(Collectors.toMap(dc -> dc, dc -> forwarder.shownHere().roundTripMillis(dc)));
  }

  Copies copies() {
    return copies;
  }

  ChangesElsewhere changes() {
    return changes;
  }

  /** Handles a lost link to a datacenter. */
  void down(String dc) {
    forwarder.down(dc);
    followers.down(dc);
  }

  /**
   * From now on requests of other datacenters are done.
   *
   * @param here does requests for keyspaces that are held here, and refuses all others
   * @param scripts keeps track of the scripts that they send for transactions
   */
  void begin(ClientService here, AccessControl access, Scripts scripts) {
    requests = new ForwardedRequests(self, here, access, scripts, new ByteBudget(bytes), BESIDE);
  }

  // ---------------------------------------------------------------- for the forwarder

  @Override
  public Optional<ForwardingHost.Held> holders(String keyspace) {
    return placement
        .get()
        .find(keyspace)
        .map(
            placed ->
                new ForwardingHost.Held(
                    placed.holders().stream().filter(dc -> !dc.equals(self)).toList(),
                    placed.policy().partitioning(),
                    placed.creation()))
        .filter(held -> !held.dcs().isEmpty()); // otherwise only this one is about to hold it
  }

  @Override
  public VersionVector shownBefore(String keyspace, int partition) {
    return shownBefore.apply(keyspace, partition);
  }

  @Override
  public boolean mayAsk(String dc) {
    return transport.get().mayAsk(dc);
  }

  @Override
  public boolean takesScripts(String dc) {
    return transport.get().version(dc) >= PeerVersions.SCRIPTS;
  }

  @Override
  public boolean ask(String dc, byte[] content) {
    return transport.get().ask(dc, content);
  }

  @Override
  public void later(Runnable task, long millis) {
    transport.get().later(task, millis);
  }

  // ---------------------------------------------------------------- what the transport hears

  /** See {@link PeerListener#asked}. */
  void asked(ReplicaId peer, byte[] content, PeerListener.Answers answers) {
    ForwardedRequests to = requests;
    if (to != null) {
      ForwardedRequest asked = ForwardedRequest.decode(content);
      if (FollowCodec.isOfThese(asked.request())) {
        follows(peer, asked, answers);
      } else {
        to.asked(peer, transport.get().version(peer.dc()), content, answers);
      }
      return;
    }
    Reply starts =
        new Reply.Failure(ErrorCode.UNAVAILABLE, "nothing was done: " + self + " has just started");
    long id = ForwardedRequest.decode(content).id();
    answers.send(ProtocolCodec.encode(id, starts), () -> {});
  }

  private void follows(ReplicaId peer, ForwardedRequest asked, PeerListener.Answers answers) {
    followers.asked(
        peer,
        asked.request(),
        content ->
            answers.send(
                content == null
                    ? ProtocolCodec.encode(
                        asked.id(),
                        new Reply.Failure(
                            ErrorCode.UNAVAILABLE, self + " does not send changes of this object"))
                    : ForwardedRequest.answer(asked.id(), content),
                () -> {}));
  }

  /** See {@link PeerListener#receivedAll}. */
  void receivedAll(ReplicaId peer) {
    ForwardedRequests to = requests;
    if (to != null) {
      to.receivedAll(peer);
    }
  }

  @Override
  public void close() {
    copies.close();
    forwarder.close();
  }
}
