package io.osier.datacenter.frontend;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.TooLongFrameException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.memory.OutOfMemory;
import io.osier.core.net.FrameReader;
import io.osier.core.net.Framing;
import io.osier.core.net.StrangeProtocol;
import io.osier.core.tls.TlsTrouble;
import io.osier.datacenter.access.Identity;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.propagation.net.link.PortGuard;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one client's connection: takes its greeting, then its requests, and sends the answers in
 * the order in which they come. For the channel's loop; answers come from any thread.
 */
final class ClientConnection extends FrameReader
    implements ClientServer.Visitor, ClientRequests.Room {
  private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);

  /** The largest frame of a client that has not logged in yet, in bytes. */
  private static final int GREETING_BYTES_MAX = 1 << 10;

  /**
   * The first pause before a waiting login is tried again; it doubles up to {@link
   * #LOGIN_MILLIS_MAX}.
   */
  private static final long LOGIN_MILLIS = 20;

  /** The longest such pause: after a start many logins may wait for long. */
  private static final long LOGIN_MILLIS_MAX = 200;

  /** How often a client whose request comes slowly is told that the connection lives. */
  private static final long SIGN_MILLIS = 500;

  private final ReplicaId self;
  private final ClientService handler;
  private final AccessControl access;
  private final PortGuard port;
  private final RequestWatch watch;
  private final ClientRequests requests;
  private final Supplier<Optional<String>> page;
  private final Channel channel;
  private final ClientAnswers answers;
  private final ConnectionGuard guard;
  private final ClientLogin login;
  private final Turn turn = new Turn();
  private long loginMillis;
  private boolean greeted;
  private boolean signDue;
  private boolean broken;

  /** Whether no requests are taken at present, since answers wait or the turn is over. */
  private boolean stopped;

  /** Whether held back requests are being done, after which answers are flushed. */
  private boolean answering;

  /**
   * @param page returns the address of the dashboard, if there is one
   */
  ClientConnection(Channel channel, ClientRequests.Shared shared, Supplier<Optional<String>> page) {
    super(GREETING_BYTES_MAX, shared.requestBytes());
    this.self = shared.self();
    this.handler = shared.handler();
    this.access = shared.access();
    this.port = shared.port();
    this.page = page;
    this.watch = shared.watch();
    this.channel = channel;
    this.requests = new ClientRequests(channel, shared, this, false);
    this.guard = new ConnectionGuard(port, this::isInFrame);
    this.login = new ClientLogin(access, channel);
    this.answers =
        new ClientAnswers(
            channel,
            new AnswerShare(shared.answerBytes()),
            () -> answering || isReading(),
            this::listen,
            watch::failed);
  }

  @Override
  public ConnectionGuard guard() {
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

  /**
   * Tries the greeting again later, since the users are not known yet; reads nothing more until
   * then.
   */
  private void greetLater(ChannelHandlerContext ctx, long id, Request request) {
    pause();
    loginMillis = loginPauseMillis(loginMillis);
    ctx.executor()
        .schedule(
            () -> {
              if (!channel.isActive()) {
                return;
              }
              resume(ctx); // takes effect after this task; greet pauses again if it must
              try {
                greet(ctx, id, request);
              } catch (RuntimeException e) {
                exceptionCaught(ctx, e);
              }
            },
            loginMillis,
            TimeUnit.MILLISECONDS);
  }

  /** Returns the pause that follows a pause, in milliseconds; 0 stands for none before. */
  static long loginPauseMillis(long before) {
    return Math.min(Math.max(2 * before, LOGIN_MILLIS), LOGIN_MILLIS_MAX);
  }

  private void welcome(long id, Identity identity) {
    requests.welcome(identity);
    greeted = true;
    guard.greeted();
    setFrameBytesMax(Framing.CLIENT_FRAME_BYTES_MAX);
    Reply.Keyspaces told = handler.told();
    Reply welcome =
        new Reply.Welcome(Request.PROTOCOL_VERSION, self, told.keyspaces(), told.elsewhere());
    answer(id, LaterTypes.legible(welcome, login.version()));
  }

  private void refuse(
      ChannelHandlerContext ctx, long id, ErrorCode code, @Nullable String message) {
    // Strangers can cause this again and again, so the port limits the lines.
    port.log(channel, "refused: " + code + ": " + message);
    answer(id, new Reply.Failure(code, String.valueOf(message)));
    closeSoon(ctx);
  }

  private void closeSoon(ChannelHandlerContext ctx) {
    end();
    ctx.executor()
        .schedule(() -> ctx.close(), ExcessConnections.REFUSED_MILLIS, TimeUnit.MILLISECONDS);
  }

  @Override
  public void closeIfGone() {
    requests.closeIfGone();
  }

  @Override
  public long waitingBytes() {
    return answers.waitingBytes();
  }

  // ---------------------------------------------------------------- requests

  @Override
  protected void frame(ChannelHandlerContext ctx, WireInput content) {
    guard.frame();
    requests.hold(); // until all frames that have come are taken
    int length = content.remaining();
    long id = ProtocolCodec.decodeId(content); // without an id there is nothing to answer to
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
    if (!greeted) {
      greet(ctx, id, request);
    } else {
      Reply refusal =
          login.version() < Request.HOMES_VERSION
              ? LaterTypes.refusal(
                  request, handler, "this client", login.version() >= Request.BY_TAG_VERSION)
              : null;
      if (refusal != null) {
        answer(id, refusal);
      } else if (!requests.ask(new Call(id, request, began), length)) {
        closeSoon(ctx);
      }
      turn.took(length);
      if (turn.isOver()) {
        turn.later(ctx.executor(), this::listen);
      }
      listen();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (!turn.isOver()) { // otherwise the next turn begins by itself
      turn.begin();
    }
    ctx.fireChannelReadComplete();
  }

  @Override
  protected void refused(ChannelHandlerContext ctx, WireInput head, int length) {
    guard.frame();
    answer(ProtocolCodec.decodeId(head), requests.noRoom(ClientRequests.REQUEST_BYTES + length));
  }

  @Override
  protected void begun(ChannelHandlerContext ctx) {
    if (!signDue && greeted) {
      signDue = true;
      ctx.executor().schedule(this::giveSign, SIGN_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  /** Sends a sign of life to a client whose ping waits behind its own large request. */
  private void giveSign() {
    signDue = false;
    if (isInFrame() && channel.isActive()) {
      answer(0, new Reply.Pong());
    }
  }

  // ---------------------------------------------------------------- answers

  /** A request with the id under which it is answered. */
  private final class Call extends Asked {
    private final long id;

    Call(long id, Request request, long beganNanos) {
      super(requests, request, beganNanos);
      this.id = id;
    }

    @Override
    protected void answer(Reply reply) {
      answers.answerRequest(id, LaterTypes.legible(reply, login.version()));
    }
  }

  private void answer(long id, Reply reply) {
    answers.answer(id, reply);
  }

  @Override
  protected void frames(ChannelHandlerContext ctx) {
    answering = true;
    try {
      requests.release();
    } finally {
      answering = false;
    }
    answers.flush();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    listen();
    if (channel.isWritable()) {
      ctx.executor().execute(answers::flush); // later, as an answer may be being written
    }
    ctx.fireChannelWritabilityChanged();
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    super.channelInactive(ctx);
    ctx.executor().execute(answers::flush); // nobody reads the answers: they are dropped
  }

  /**
   * Stops to take requests while the client does not read its answers or its turn is over, and goes
   * on afterwards.
   */
  private void listen() {
    boolean listens = answers.haveRoom() && !turn.isOver();
    if (listens != stopped) {
      return;
    }
    stopped = !listens;
    channel.config().setAutoRead(listens);
    if (!listens) {
      pause();
      return;
    }
    ChannelHandlerContext ctx = channel.pipeline().context(this); // null once it is closed
    if (ctx != null) {
      resume(ctx);
    }
  }

  // ---------------------------------------------------------------- the end

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    OutOfMemory.report(cause);
    if (cause instanceof MalformedException || cause instanceof TooLongFrameException) {
      watch.malformed();
    }
    boolean isHttp = cause instanceof StrangeProtocol strange && strange.isHttp();
    if (!broken) { // every unsent buffer fails once more
      String why =
          cause instanceof ClosedChannelException
              ? "the client closed it before all answers were sent"
              : isHttp
                  ? forBrowsers()
                  : TlsTrouble.inWords(cause)
                      .orElse(cause.getMessage() == null ? cause.toString() : cause.getMessage());
      if (greeted) {
        LOG.warn("connection of client {} closed: {}", channel.remoteAddress(), why);
      } else {
        port.log(channel, why); // strangers can cause this again and again
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
