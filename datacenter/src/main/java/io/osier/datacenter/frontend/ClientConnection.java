package io.osier.datacenter.frontend;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
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
import io.osier.core.net.StrangeProtocol;
import io.osier.core.tls.TlsTrouble;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.access.UserCommand;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.datacenter.shard.RefusedParts;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.Phased;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.propagation.net.link.PortGuard;
import io.osier.protocol.Envelope;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One client's connection: its greeting, then requests in and answers out, as they come. Used by
 * the channel's loop; answers come from any thread.
 */
final class ClientConnection extends FrameReader {
  private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);

  /** Of a frame of somebody who is not known yet. */
  private static final int GREETING_BYTES_MAX = 1 << 10;

  /** Time for a refusal to be read before the connection is closed. */
  static final long REFUSED_MILLIS = 100;

  /**
   * What a request takes in the heap besides its bytes until it is answered: in its lane, in front
   * of who reads its object from the disk, with what will answer it.
   */
  private static final int REQUEST_BYTES = 512;

  /**
   * Until it is looked again whether logins must wait; twice as long each time, up to a maximum.
   */
  private static final long LOGIN_MILLIS = 20;

  /** Many may wait for as long as a start does: each looks so seldom at last. */
  private static final long LOGIN_MILLIS_MAX = 200;

  /** A client whose request takes longer to come hears so often that it is still being taken. */
  private static final long SIGN_MILLIS = 500;

  private static final Identity NOBODY = new Identity("", Optional.empty());

  /**
   * What all connections of a port share.
   *
   * @param requestBytes for requests that are not answered
   * @param page where the page for browsers is, if there is one
   */
  record Shared(
      ReplicaId self,
      ClientServer.Handler handler,
      AccessControl access,
      PortGuard port,
      ByteBudget requestBytes,
      UserQuotas quotas,
      RequestWatch watch,
      Supplier<Optional<String>> page) {}

  private final ReplicaId self;
  private final ClientServer.Handler handler;
  private final AccessControl access;
  private final PortGuard port;
  private final ByteBudget requestBytes;
  private final UserQuotas quotas;
  private final RequestWatch watch;
  private final Supplier<Optional<String>> page;
  private final OrderedQueue lane = new OrderedQueue();
  private final Channel channel;
  private final Outgoing<Envelope<Reply>> replies;
  private final ConnectionGuard guard;
  private final ClientLogin login;
  private long loginMillis;
  private boolean greeted;
  private boolean signDue;
  private boolean broken;

  /** Whether what has come is being done, after which answers are flushed. */
  private boolean answering;

  /** What its user may have; null until it is known who that is. */
  private UserQuotas.@Nullable Quota quota;

  /** Nobody, who may nothing, until it is known who it is. */
  private ConnectionUser visitor = new ConnectionUser(NOBODY);

  ClientConnection(Channel channel, Shared shared) {
    super(GREETING_BYTES_MAX, shared.requestBytes);
    this.self = shared.self;
    this.handler = shared.handler;
    this.access = shared.access;
    this.port = shared.port;
    this.requestBytes = shared.requestBytes;
    this.quotas = shared.quotas;
    this.page = shared.page;
    this.watch = shared.watch;
    this.channel = channel;
    this.guard = new ConnectionGuard(port, this::isInFrame);
    this.login = new ClientLogin(access, channel);
    this.replies = new Replies();
  }

  /** What stands before this in the channel's pipeline. */
  ConnectionGuard guard() {
    return guard;
  }

  // ---------------------------------------------------------------- the greeting

  private void greet(ChannelHandlerContext ctx, long id, Request request) {
    if (access.isWaiting()) {
      greetLater(ctx, id, request);
      return;
    }
    try {
      login
          .heard(request, answer -> answer(id, answer))
          .ifPresent(identity -> welcome(id, identity));
    } catch (OsierException e) {
      refuse(ctx, id, e.code(), e.reason());
    }
  }

  /** Nothing more is read of a connection before it is known who may log in. */
  private void greetLater(ChannelHandlerContext ctx, long id, Request request) {
    pause();
    loginMillis = loginPauseMillis(loginMillis);
    ctx.executor()
        .schedule(
            () -> {
              if (!channel.isActive()) {
                return;
              }
              resume(ctx); // once this is done; greet pauses again if it must
              try {
                greet(ctx, id, request);
              } catch (RuntimeException e) {
                exceptionCaught(ctx, e);
              }
            },
            loginMillis,
            TimeUnit.MILLISECONDS);
  }

  /**
   * The pause before the next look whether logins must wait, after that one; 0 if there was none.
   */
  static long loginPauseMillis(long before) {
    return Math.min(Math.max(2 * before, LOGIN_MILLIS), LOGIN_MILLIS_MAX);
  }

  private void welcome(long id, Identity identity) {
    UserQuotas.Quota of = quotas.connect(identity.user());
    channel.closeFuture().addListener(f -> of.disconnect());
    quota = of;
    setBudget(of.bytes());
    visitor = new ConnectionUser(identity);
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
  void closeIfGone() {
    if (greeted && visitor.in(access.users()).isEmpty()) {
      LOG.info(
          "connection of client {} closed: its user '{}' is not there any more",
          channel.remoteAddress(),
          visitor.identity().user());
      channel.close();
    }
  }

  // ---------------------------------------------------------------- requests

  @Override
  protected void frame(ChannelHandlerContext ctx, WireInput content) {
    guard.frame();
    lane.hold(); // until all that has come is taken
    int length = content.remaining();
    long id = ProtocolCodec.decodeId(content); // where there is none, nobody can be answered
    long began = watch.nanos();
    Request request;
    try {
      request = ProtocolCodec.decodeRequestBody(content);
    } catch (MalformedException e) {
      watch.malformed();
      if (greeted) {
        answer(id, new Reply.Failure(e.code(), "the request cannot be read: " + e.reason()));
      } else {
        refuse(ctx, id, e.code(), "the greeting cannot be read: " + e.reason());
      }
      return;
    }
    UserQuotas.Quota of = quota;
    if (of == null) {
      greet(ctx, id, request);
      return;
    }
    Reply.Failure refusal = access.refusal(visitor, request, channel.remoteAddress());
    if (refusal != null) {
      if (!endsInstead(id, request, refusal, of, began)) {
        answer(id, refusal);
      }
      if (refusal.code() == ErrorCode.NOT_AUTHENTICATED) {
        closeSoon(ctx);
      }
    } else if (!of.tryBegin()) {
      refuseAllowed(
          id,
          request,
          new Reply.Failure(ErrorCode.OVERLOADED, "nothing was done: " + of.tooManyRequests()));
    } else {
      long bytes = keptBytes(request, length, of);
      if (tryKeep(bytes)) {
        handle(request, new Asked(id, request, began, of, bytes));
      } else {
        of.end();
        refuseAllowed(id, request, noRoom(bytes));
      }
    }
  }

  /**
   * Ends a transaction whose commit is refused, and answers when that is done: what it has set
   * aside must not wait for somebody to close it.
   */
  private boolean endsInstead(
      long id, Request request, Reply.Failure refusal, UserQuotas.Quota of, long began) {
    Request.Transact abort = access.abortOf(visitor, request, refusal);
    if (abort == null || !of.tryBegin()) {
      return false;
    }
    if (!tryKeep(REQUEST_BYTES)) {
      of.end();
      return false;
    }
    handler.handle(abort, lane, new Asked(id, abort, began, of, REQUEST_BYTES, refusal));
    return true;
  }

  /** Refuses what its user may ask for, but there is no room: nothing is kept of it. */
  private void refuseAllowed(long id, Request request, Reply.Failure refusal) {
    access.answered(request, refusal);
    answer(id, refusal);
  }

  /**
   * What a request counts until it is answered; one that fits as it came may count all there is.
   */
  private long keptBytes(Request request, int length, UserQuotas.Quota of) {
    long most = Math.min(of.bytes().max(), requestBytes.max());
    return Math.max(REQUEST_BYTES + length, Math.min(most, REQUEST_BYTES + request.heapBytes()));
  }

  private void handle(Request request, Asked asked) {
    Identity identity = visitor.identity();
    switch (request) {
      case Request.Administer administer ->
          handler.administer(
              administer,
              identity.user(),
              administer.asksWhy() ? asked : audited(administer, identity, asked));
      case Request.Scan scan ->
          handler.handle(scan, lane, page -> asked.accept(access.visible(identity, scan, page)));
      case Request.ReadAll batch -> handleParts(batch, asked);
      case Request.WriteAll batch -> handleParts(batch, asked);
      default -> handler.handle(request, lane, asked);
    }
  }

  /** Of a batch, what its user may ask for. */
  private void handleParts(Request batch, Asked asked) {
    RefusedParts refused = access.refusedParts(visitor, batch, channel.remoteAddress());
    handler.handle(refused.without(batch), lane, refused.with(asked));
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

  @Override
  protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
    guard.frame();
    answer(ProtocolCodec.decodeId(head), noRoom(REQUEST_BYTES + length));
  }

  private Reply.Failure noRoom(long bytes) {
    UserQuotas.Quota of = quota;
    if (of != null && !of.bytes().has(bytes - heldBytes())) {
      boolean fits = bytes <= of.bytes().max();
      return new Reply.Failure(
          fits ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
          "nothing was done: " + of.noRoom(bytes));
    }
    boolean ever = bytes <= requestBytes.max();
    return new Reply.Failure(
        ever ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
        "nothing was done: a request that takes "
            + bytes
            + " bytes finds no room; all that are under way may have "
            + requestBytes.max()
            + " bytes, an eighth of this datacenter's heap");
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

  // ---------------------------------------------------------------- answers

  /** A request that is to be answered, once. */
  private final class Asked implements Consumer<Reply>, Phased {
    private final long id;
    private final Request request;
    private final long beganNanos;
    private final UserQuotas.Quota of;
    private final long keptBytes;
    private volatile long takenNanos;
    private volatile long executedNanos;
    private volatile List<Waited> waited = List.of();

    /** What is answered whatever is done; null for what is done. */
    private final Reply.@Nullable Failure refusal;

    Asked(long id, Request request, long beganNanos, UserQuotas.Quota of, long keptBytes) {
      this(id, request, beganNanos, of, keptBytes, null);
    }

    Asked(
        long id,
        Request request,
        long beganNanos,
        UserQuotas.Quota of,
        long keptBytes,
        Reply.@Nullable Failure refusal) {
      this.refusal = refusal;
      this.id = id;
      this.request = request;
      this.beganNanos = beganNanos;
      this.of = of;
      this.keptBytes = keptBytes;
    }

    @Override
    public void accept(Reply reply) {
      access.answered(request, reply);
      of.bytes().give(keptBytes);
      of.end();
      long now = watch.nanos();
      watch.times().answered(RequestTimes.Kind.of(request), now - beganNanos);
      answer(id, refusal == null ? LaterTypes.legible(reply, login.version()) : refusal);
      if (watch.listens(now - beganNanos)) {
        watch.answered(
            request,
            reply,
            new SlowLog.Phases(beganNanos, takenNanos, executedNanos, now, waited),
            channel.remoteAddress());
      }
    }

    @Override
    public void taken(long nanos) {
      takenNanos = nanos;
    }

    @Override
    public void waited(Waited what) { // by one thread after the other
      waited = Stream.concat(waited.stream(), Stream.of(what)).toList();
    }

    @Override
    public void executed(long nanos) {
      executedNanos = nanos;
    }
  }

  private void answer(long id, Reply reply) {
    if (reply instanceof Reply.Failure f) {
      watch.failed(f.code());
    }
    replies.add(new Envelope<>(id, reply));
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
      return answering || isReading();
    }
  }

  private static Reply.Failure unencodable(Reply reply, RuntimeException cause) {
    boolean done =
        reply instanceof Reply.Done
            || (reply instanceof Reply.All a
                && a.parts().stream().anyMatch(Reply.Done.class::isInstance))
            || (reply instanceof Reply.Evaluated e && e.dot().isPresent())
            || (reply instanceof Reply.Transacted t && t.dot().isPresent());
    return new Reply.Failure(
        done ? ErrorCode.TIMEOUT : ErrorCode.INTERNAL,
        (done ? "it was done, but " : "") + "the answer cannot be encoded: " + cause);
  }

  @Override
  protected void frames(ChannelHandlerContext ctx) {
    answering = true;
    try {
      lane.release(handler::together);
    } finally {
      answering = false;
    }
    replies.flush();
  }

  /** Who does not read its answers is not listened to. */
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

  // ---------------------------------------------------------------- the end

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    OutOfMemory.report(cause);
    if (cause instanceof MalformedException || cause instanceof TooLongFrameException) {
      watch.malformed();
    }
    boolean isHttp = cause instanceof StrangeProtocol strange && strange.isHttp();
    if (!broken) { // each buffer that is not sent fails once more
      String why =
          cause instanceof ClosedChannelException
              ? "it went without all of its answers"
              : isHttp
                  ? forBrowsers()
                  : TlsTrouble.inWords(cause)
                      .orElse(cause.getMessage() == null ? cause.toString() : cause.getMessage());
      if (greeted) {
        LOG.warn("connection of client {} closed: {}", channel.remoteAddress(), why);
      } else {
        port.log(channel, why); // anybody can do that, again and again
      }
    }
    boolean isFirst = !broken;
    broken = true;
    if (isHttp && isFirst) {
      String text =
          "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
              + forBrowsers()
              + "\n";
      ctx.writeAndFlush(Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII))
          .addListener(sent -> ctx.close());
    } else {
      ctx.close();
    }
  }

  private String forBrowsers() {
    return "this looks like HTTP, and the port is for clients of Osier; "
        + page.get()
            .map(at -> "the page is at " + at)
            .orElse("there is no page, since osier.admin.enabled is false");
  }
}
