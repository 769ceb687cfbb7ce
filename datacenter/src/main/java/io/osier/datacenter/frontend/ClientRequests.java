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
import io.osier.protocol.AdminRequest;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.net.SocketAddress;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the requests of one connection, of any protocol: knows its user, checks rights and quotas,
 * keeps the order of requests, and hands them to the {@link ClientService}. For the channel's loop;
 * answers come from any thread.
 */
public final class ClientRequests {
  private static final Logger LOG = LoggerFactory.getLogger(ClientRequests.class);

  /**
   * What a request takes of the heap besides its bytes until it is answered, in bytes: in its
   * ordered queue, in front of the readers of the disk, and for its answer's callback.
   */
  static final int REQUEST_BYTES = 512;

  private static final Identity NOBODY = new Identity("", Optional.empty());

  /** The buffer of a connection, which holds bytes of a budget. */
  public interface Room {
    /**
     * Takes bytes of the budget for a request until it is answered, those that the buffer holds for
     * it included; returns false if there are too few.
     */
    boolean tryKeep(long bytes);

    /** Returns the bytes of the budget that the buffer holds. */
    long heldBytes();

    /** Moves the held bytes to another budget, which is used from now on. */
    void setBudget(ByteBudget budget);
  }

  /**
   * The objects that all connections of the ports share.
   *
   * @param requestBytes the budget of unanswered requests
   * @param answerBytes the budget of answers until the network has taken them
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

  /** The quota of its user; null before the login, and once the connection is closed. */
  private UserQuotas.@Nullable Quota quota;

  /** Whether the client has logged in. */
  private boolean known;

  /** The user of the connection: before the login one without any right. */
  private ConnectionUser visitor = new ConnectionUser(NOBODY);

  ClientRequests(Channel channel, Shared shared, Room room, boolean answersInOrder) {
    this.lane = new OrderedQueue(answersInOrder);
    this.channel = channel;
    this.shared = shared;
    this.room = room;
    room.setBudget(shared.requestBytes);
    channel.closeFuture().addListener(f -> leave());
  }

  /** Returns the budget of the answers of all connections. */
  public ByteBudget answerBytes() {
    return shared.answerBytes;
  }

  /** Returns the access control of the ports. */
  public AccessControl access() {
    return shared.access;
  }

  /** Returns what measures the requests of all connections. */
  public RequestWatch watch() {
    return shared.watch;
  }

  /** Returns the guard of the port, which counts connections. */
  public PortGuard port() {
    return shared.port;
  }

  /**
   * Holds back what follows requests, such as their commit, until {@link #release} does it once for
   * all of them.
   */
  public void hold() {
    lane.hold();
  }

  /** Does what was held back. */
  public void release() {
    lane.release(shared.handler::together);
  }

  /** Returns the time, by the monotonic clock that requests are measured by, in nanoseconds. */
  public long nanos() {
    return shared.watch.nanos();
  }

  /** Returns the identity of the client. */
  public Identity identity() {
    return visitor.identity();
  }

  SocketAddress remoteAddress() {
    return channel.remoteAddress();
  }

  // ---------------------------------------------------------------- who it is

  /**
   * Notes that the client has logged in, for the first time or as another user.
   *
   * @throws OsierException OVERLOADED if the user has too many connections, NOT_AUTHENTICATED if it
   *     was dropped while it logged in; the identity then stays as it was
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
    if (!channel.isOpen()) { // the listener of its end has run already
      leave();
    }
  }

  /** Logs the client out, as before {@link #welcome}; its unanswered requests go on. */
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

  /** Returns whether the client has logged in. */
  public boolean isWelcome() {
    return known;
  }

  /** Closes the connection if its user no longer exists. */
  public void closeIfGone() {
    if (isWelcome() && visitor.in(shared.access.users()).isEmpty()) {
      LOG.info(
          "connection of client {} closed: its user '{}' is not there any more",
          channel.remoteAddress(),
          visitor.identity().user());
      channel.close();
    }
  }

  /**
   * Returns the present rights of its user, for steps of a script, which are checked in the
   * partition's turn.
   */
  public StepRights stepRights() {
    return shared.access.stepRights(visitor);
  }

  /**
   * Returns whether requests of this connection for a keyspace were forwarded to another
   * datacenter.
   */
  public boolean hasGoneElsewhere(String keyspace) {
    return lane.hasGoneElsewhere(keyspace);
  }

  /** Notes in the audit log a right that was missing for a step; called once all steps are done. */
  public void noteMissing(StepRights rights) {
    shared.access.noteMissing(rights, identity().user(), channel.remoteAddress());
  }

  /** Returns the budget of its user's requests, and of what its connections keep beside them. */
  public ByteBudget bytes() {
    UserQuotas.Quota of = quota;
    return of == null ? shared.requestBytes : of.bytes();
  }

  // ---------------------------------------------------------------- requests

  /**
   * Does a request, or answers why it is refused. Not before {@link #welcome}.
   *
   * @param length the bytes of the request as it came
   * @return whether the client is logged in; otherwise the connection is of no use
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
   * Aborts a transaction whose commit is refused, and answers with the refusal afterwards, so that
   * what the transaction holds does not wait for its time limit. Returns whether there is one to
   * abort.
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

  /** Refuses a request for which its user has the rights, but there is no room. */
  private void refuseAllowed(Asked asked, Reply.Failure refusal) {
    shared.access.answered(asked.request(), refusal);
    asked.answer(refusal);
  }

  /**
   * Returns the bytes that a request counts until it is answered; at most all that the budgets
   * have, if it fits as it came.
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
      case AdminRequest.Administer administer ->
          handler.administer(
              administer,
              identity.user(),
              administer.asksWhy() ? asked : audited(commandOf(administer), identity, asked));
      case AdminRequest.Backup backup ->
          handler.handle(
              backup,
              lane,
              identity.user(),
              audited(
                  "backup" + backup.name().map(name -> " " + name).orElse(""), identity, asked));
      case ScanRequest scan ->
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

  /** Does those parts of a batch for which its user has the rights. */
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

  /**
   * Returns the text of an administrator's command, with the rights that it gives or takes, but no
   * secret.
   */
  private static String commandOf(AdminRequest.Administer request) {
    String rights = request.settings().get(UserCommand.RIGHTS);
    return rights == null || !request.subject().equals("user")
        ? request.toString()
        : request + ": " + String.join(", ", rights.lines().toList());
  }

  /** Returns the refusal of a request for whose bytes, held ones included, there is no room. */
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
