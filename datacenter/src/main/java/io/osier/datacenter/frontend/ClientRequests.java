package io.osier.datacenter.frontend;

import io.netty.channel.Channel;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.UserCommand;
import io.osier.datacenter.shard.RefusedParts;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.link.PortGuard;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one connection asks for, whichever protocol it speaks: who it is, what that user may do and
 * have, and the order of what it asks for. Used by the channel's loop; answers come from any
 * thread.
 */
public final class ClientRequests {
  private static final Logger LOG = LoggerFactory.getLogger(ClientRequests.class);

  /**
   * What a request takes in the heap besides its bytes until it is answered: in its lane, in front
   * of who reads its object from the disk, with what will answer it.
   */
  static final int REQUEST_BYTES = 512;

  private static final Identity NOBODY = new Identity("", Optional.empty());

  /** What a connection has read and holds bytes of a budget for. */
  public interface Room {
    /** Takes bytes until a request is answered, what is held included; false if there are none. */
    boolean tryKeep(long bytes);

    /** What is held of the budget already. */
    long heldBytes();

    /** From now on what is held is taken from another budget. */
    void setBudget(ByteBudget budget);
  }

  /**
   * What all connections of the ports share.
   *
   * @param requestBytes for requests that are not answered
   * @param answerBytes for answers until they are read
   */
  record Shared(
      ReplicaId self,
      ClientService handler,
      AccessControl access,
      PortGuard port,
      ByteBudget requestBytes,
      ByteBudget answerBytes,
      UserQuotas quotas,
      RequestWatch watch) {}

  private final Channel channel;
  private final Shared shared;
  private final Room room;
  private final OrderedQueue lane;

  /** What its user may have; null until it is known who that is, and once it is closed. */
  private UserQuotas.@Nullable Quota quota;

  private boolean known;

  /** Nobody, who may nothing, until it is known who it is. */
  private ConnectionUser visitor = new ConnectionUser(NOBODY);

  ClientRequests(Channel channel, Shared shared, Room room, boolean answersInOrder) {
    this.lane = new OrderedQueue(answersInOrder);
    this.channel = channel;
    this.shared = shared;
    this.room = room;
    room.setBudget(shared.requestBytes);
    channel.closeFuture().addListener(f -> leave());
  }

  /** For answers of all connections, until they are read. */
  public ByteBudget answerBytes() {
    return shared.answerBytes;
  }

  /** What holds for the ports. */
  public AccessControl access() {
    return shared.access;
  }

  /** Who hears how long requests take. */
  public RequestWatch watch() {
    return shared.watch;
  }

  /** The port, which counts connections. */
  public PortGuard port() {
    return shared.port;
  }

  /** What follows requests is held back until {@link #release}: it is done once for all of them. */
  public void hold() {
    lane.hold();
  }

  /** Does what was held back. */
  public void release() {
    lane.release(shared.handler::together);
  }

  /** The time, by the clock that requests are measured by. */
  public long nanos() {
    return shared.watch.nanos();
  }

  public Identity identity() {
    return visitor.identity();
  }

  SocketAddress remoteAddress() {
    return channel.remoteAddress();
  }

  // ---------------------------------------------------------------- who it is

  /**
   * It is known who it is, or it is somebody else from now on.
   *
   * @throws OsierException OVERLOADED if the user has too many connections, NOT_AUTHENTICATED if it
   *     was dropped while it logged in; it is then who it was
   */
  public void welcome(Identity identity) {
    ConnectionUser of = new ConnectionUser(identity);
    if (of.in(shared.access.users()).isEmpty()) {
      throw new OsierException(
          ErrorCode.NOT_AUTHENTICATED, "user '" + identity.user() + "' is not there any more");
    }
    UserQuotas.Quota counted = shared.quotas.connect(identity.user());
    leave();
    quota = counted;
    known = true;
    room.setBudget(counted.bytes());
    visitor = of;
    if (!channel.isOpen()) { // which has been heard of already
      leave();
    }
  }

  /** It is nobody any more, as before {@link #welcome}; what is under way goes on. */
  public void forget() {
    leave();
    known = false;
    visitor = new ConnectionUser(NOBODY);
    room.setBudget(shared.requestBytes);
  }

  private void leave() {
    UserQuotas.Quota of = quota;
    if (of != null) {
      quota = null;
      of.disconnect();
    }
  }

  public boolean isWelcome() {
    return known;
  }

  /** Closes the connection if its user is not there any more. */
  public void closeIfGone() {
    if (isWelcome() && visitor.in(shared.access.users()).isEmpty()) {
      LOG.info(
          "connection of client {} closed: its user '{}' is not there any more",
          channel.remoteAddress(),
          visitor.identity().user());
      channel.close();
    }
  }

  /** What its user may do now of steps that are decided on in a partition's turn. */
  public StepRights stepRights() {
    return shared.access.stepRights(visitor);
  }

  /** Whether something of a keyspace was asked of another datacenter for this connection. */
  public boolean hasGoneElsewhere(String keyspace) {
    return lane.hasGoneElsewhere(keyspace);
  }

  /** Notes that a right to a step was missing, if one was. Once they are all taken. */
  public void noteMissing(StepRights rights) {
    shared.access.noteMissing(rights, identity().user(), channel.remoteAddress());
  }

  /** What its user's requests, and what its connections keep beside them, may take. */
  public ByteBudget bytes() {
    UserQuotas.Quota of = quota;
    return of == null ? shared.requestBytes : of.bytes();
  }

  // ---------------------------------------------------------------- requests

  /**
   * Does a request, or answers why it is not done. Not before {@link #welcome}.
   *
   * @param length what it had as it came, in bytes
   * @return whether it is known who asks; otherwise the connection is of no use
   */
  public boolean ask(Asked asked, int length) {
    UserQuotas.Quota of = quota;
    Request request = asked.request();
    if (of == null) {
      asked.answer(new Reply.Failure(ErrorCode.NOT_AUTHENTICATED, "no user has logged in"));
      return false;
    }
    Reply.Failure refusal = shared.access.refusal(visitor, request, channel.remoteAddress());
    if (refusal != null) {
      if (!endsInstead(asked, refusal, of)) {
        asked.answer(refusal);
      }
      return refusal.code() != ErrorCode.NOT_AUTHENTICATED;
    }
    if (!of.tryBegin()) {
      refuseAllowed(
          asked,
          new Reply.Failure(ErrorCode.OVERLOADED, "nothing was done: " + of.tooManyRequests()));
      return true;
    }
    long bytes = keptBytes(request, length, of);
    if (room.tryKeep(bytes)) {
      asked.begin(of, bytes);
      handle(request, asked);
    } else {
      of.end();
      refuseAllowed(asked, noRoom(bytes));
    }
    return true;
  }

  /**
   * Ends a transaction whose commit is refused, and answers when that is done: what it has set
   * aside must not wait for somebody to close it.
   */
  private boolean endsInstead(Asked asked, Reply.Failure refusal, UserQuotas.Quota of) {
    Request.Transact abort = shared.access.abortOf(visitor, asked.request(), refusal);
    if (abort == null || !of.tryBegin()) {
      return false;
    }
    if (!room.tryKeep(REQUEST_BYTES)) {
      of.end();
      return false;
    }
    asked.begin(of, REQUEST_BYTES, abort, refusal);
    shared.handler.handle(abort, lane, identity().user(), asked);
    return true;
  }

  /** Refuses what its user may ask for, but there is no room: nothing is kept of it. */
  private void refuseAllowed(Asked asked, Reply.Failure refusal) {
    shared.access.answered(asked.request(), refusal);
    asked.answer(refusal);
  }

  /**
   * What a request counts until it is answered; one that fits as it came may count all there is.
   */
  private long keptBytes(Request request, int length, UserQuotas.Quota of) {
    long most = Math.min(of.bytes().max(), shared.requestBytes.max());
    return Math.max(
        REQUEST_BYTES + length, Math.min(most, REQUEST_BYTES + MessageHeap.bytes(request)));
  }

  private void handle(Request request, Asked asked) {
    Identity identity = visitor.identity();
    ClientService handler = shared.handler;
    switch (request) {
      case Request.Administer administer ->
          handler.administer(
              administer,
              identity.user(),
              administer.asksWhy() ? asked : audited(commandOf(administer), identity, asked));
      case Request.Backup backup ->
          handler.handle(
              backup,
              lane,
              identity.user(),
              audited(
                  "backup" + backup.name().map(name -> " " + name).orElse(""), identity, asked));
      case Request.Scan scan ->
          handler.handle(
              scan,
              lane,
              identity.user(),
              page -> asked.accept(shared.access.visible(identity, scan, page)));
      case Request.ReadAll batch -> handleParts(batch, asked);
      case Request.WriteAll batch -> handleParts(batch, asked);
      default -> handler.handle(request, lane, identity.user(), asked);
    }
  }

  /** Of a batch, what its user may ask for. */
  private void handleParts(Request batch, Asked asked) {
    RefusedParts refused = shared.access.refusedParts(visitor, batch, channel.remoteAddress());
    shared.handler.handle(refused.without(batch), lane, identity().user(), refused.with(asked));
  }

  private Consumer<Reply> audited(String command, Identity identity, Consumer<Reply> asked) {
    String address = AccessControl.address(channel.remoteAddress());
    return reply -> {
      String outcome = reply instanceof Reply.Failure f ? f.code() + ": " + f.message() : "done";
      shared.access.audit().administered(identity.user(), address, command, outcome);
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

  /** Why there is no room for a request of so many bytes, counted as {@link Room} counts. */
  public Reply.Failure noRoom(long bytes) {
    UserQuotas.Quota of = quota;
    if (of != null && !of.bytes().has(bytes - room.heldBytes())) {
      boolean fits = bytes <= of.bytes().max();
      return new Reply.Failure(
          fits ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
          "nothing was done: " + of.noRoom(bytes));
    }
    boolean ever = bytes <= shared.requestBytes.max();
    return new Reply.Failure(
        ever ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
        "nothing was done: a request that takes "
            + bytes
            + " bytes does not fit in the memory; all that are being handled may have "
            + shared.requestBytes.max()
            + " bytes, an eighth of this datacenter's heap");
  }
}
