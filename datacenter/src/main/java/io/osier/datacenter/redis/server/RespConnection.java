package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.memory.OutOfMemory;
import io.osier.core.net.Framing;
import io.osier.core.tls.TlsTrouble;
import io.osier.datacenter.frontend.AnswerShare;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.frontend.Turn;
import io.osier.datacenter.redis.ProtocolError;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.NotServed;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.propagation.net.link.ConnectionGuard;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection that speaks the Redis protocol. {@link Input} turns bytes into commands, {@link
 * Dispatcher} begins them, {@link Steps} sends their requests to partitions, and {@link Answers}
 * sends their answers in the order of the commands. This class decides when each of these has its
 * turn, and when the connection ends. Used by the channel's loop.
 */
final class RespConnection extends ChannelInboundHandlerAdapter
    implements ClientServer.Visitor, Connection {
  private static final Logger LOG = LoggerFactory.getLogger(RespConnection.class);

  /** The limits of commands of a known user. The limit of a value is its keyspace's own. */
  private static final RespDecoder.Limits LIMITS =
      new RespDecoder.Limits(
          RespDecoder.WORDS_MAX,
          KeyspacePolicy.Limits.VALUE_BYTES_CAP + (64 << 10),
          Framing.CLIENT_FRAME_BYTES_MAX);

  /** Most bytes that are read from the network while no further command can be begun. */
  private static final int UNTAKEN_MAX = 1 << 16;

  /**
   * Time for the client to read the last answer before the connection is closed, in milliseconds.
   */
  private static final long REFUSED_MILLIS = 100;

  private final Channel channel;
  private final ClientRequests requests;
  private final ConnectionGuard guard;
  private final Input input;
  private final AnswerShare share;
  private final Answers answers;
  private final Steps steps;
  private final RespSession session;
  private final Subscriptions subscriptions;
  private final Caches caches;
  private final Dispatcher dispatcher;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Wakeups wakeups = Wakeups.ofLoop();
  private final Turn turn = new Turn();

  private boolean working;

  /** Whether the bytes that have come contain no further whole command. */
  private boolean starved = true;

  /** Whether no further command is begun, as the connection ends. */
  private boolean ending;

  /** Whether it ends because of bytes that the client has sent, of which more may come. */
  private boolean refused;

  private boolean closing;

  RespConnection(
      Channel channel,
      ServerState server,
      Function<ClientRequests.Room, ClientRequests> requests,
      CommandTable table,
      Map<Long, RespSession> sessions) {
    this.channel = channel;
    this.input = new Input();
    this.requests = requests.apply(input);
    this.guard = new ConnectionGuard(this.requests.port(), this::isInCommand);
    this.share = new AnswerShare(this.requests.answerBytes());
    this.answers = new Answers(channel, share);
    this.steps = new Steps(channel, this.requests, answers, this, share, server.around.beside());
    ClientState client = new ClientState(channel, server, this.requests);
    this.subscriptions = new Subscriptions(channel, client, answers, this, share);
    this.caches = new Caches(channel, client, answers, steps, this, subscriptions);
    this.session =
        new RespSession(client, answers, steps, subscriptions, caches, this, table, sessions);
    this.dispatcher = new Dispatcher(session, answers, steps);
  }

  // ---------------------------------------------------------------- for the port

  @Override
  public ConnectionGuard guard() {
    return guard;
  }

  private boolean isInCommand() {
    return !ending && starved && input.size() > 0;
  }

  @Override
  public void closeIfGone() {
    requests.closeIfGone();
    session.closeIfForbidden();
  }

  @Override
  public long waitingBytes() {
    return share.presentBytes() + subscriptions.subscriber().waitingBytes();
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (ctx.pipeline().first() == guard) { // with TLS it begins after the handshake
      begin();
    }
    ctx.fireChannelActive();
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
    if (event instanceof SslHandshakeCompletionEvent handshake && handshake.isSuccess()) {
      begin();
    }
    ctx.fireUserEventTriggered(event);
  }

  private void begin() {
    try {
      session.begin();
    } catch (OsierException e) {
      end(RedisErrors.of(e).text());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf bytes = (ByteBuf) message;
    try {
      if (ending) {
        return;
      }
      begin();
      if (!ending && !input.append(bytes)) {
        end(RedisErrors.of(requests.noRoom(input.needed(bytes.readableBytes()))).text());
        return;
      }
      starved = false;
    } finally {
      bytes.release();
    }
    work();
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    if (!turn.isOver()) { // otherwise the next turn begins after the other connections had theirs
      turn.begin();
    }
    ctx.fireChannelReadComplete();
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    listen();
    if (channel.isWritable()) {
      ctx.executor().execute(this::work); // later, since this may be called by work() itself
    }
    ctx.fireChannelWritabilityChanged();
  }

  /**
   * Reads from the client, unless it does not read its answers or has sent more than can be begun.
   */
  private void listen() {
    boolean listens =
        channel.isWritable() && (starved || (input.size() < UNTAKEN_MAX && !waitsForTurn()));
    if (channel.config().isAutoRead() != listens) {
      channel.config().setAutoRead(listens);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ending = true;
    steps.close();
    input.close();
    answers.close();
    subscriptions.close();
    caches.close();
    session.end();
    ctx.fireChannelInactive();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    OutOfMemory.report(cause);
    if (!ending) {
      String why =
          TlsTrouble.inWords(cause)
              .orElse(cause.getMessage() == null ? cause.toString() : cause.getMessage());
      requests.port().log(channel, why);
    }
    ending = true;
    ctx.close();
  }

  // ---------------------------------------------------------------- commands

  /** Goes on with replies that have come, begins commands, and sends answers. */
  void work() {
    if (working) {
      return;
    }
    working = true;
    try {
      do {
        requests.hold();
        try {
          steps.finish();
          caches.push(); // first, since the authors of these changes have their answers already
          take();
          caches.push();
          subscriptions.push();
        } finally {
          requests.release();
        }
        answers.flush();
      } while (steps.areAnswered() || (!starved && mayTake() && !turn.isOver()));
      listen();
      if (answers.isEnded() || (ending && answers.size() == 0)) {
        close();
      }
    } catch (RuntimeException e) {
      LOG.error("internal error on the connection of client {}", channel.remoteAddress(), e);
      channel.close();
    } finally {
      working = false;
    }
    if (subscriptions.mayPush() || caches.hasWork() || waitsForTurn()) {
      wakeLater(); // other connections have their turn first
    }
  }

  /**
   * Returns whether its turn is over and commands are left. The connection keeps reading while it
   * waits for replies, so that it notices the client's end.
   */
  private boolean waitsForTurn() {
    return turn.isOver() && !starved && mayTake();
  }

  private boolean mayTake() {
    return !ending
        && !steps.isHolding()
        && answers.size() < Answers.COMMANDS_MAX
        && channel.isWritable();
  }

  private void take() {
    try {
      while (mayTake() && !turn.isOver()) {
        if (!input.next()) {
          starved = true;
          break;
        }
        guard.frame();
        turn.took(input.found());
        byte[][] words = input.words();
        if (words.length > 0) {
          NotServed.checkNoHttp(words[0]);
          dispatcher.command(words);
        }
      }
    } catch (ProtocolError e) {
      requests.watch().malformed();
      requests.port().log(channel, String.valueOf(e.getMessage()));
      end("ERR " + e.getMessage());
    }
    input.settle();
  }

  @Override
  public long author() {
    return caches.author();
  }

  @Override
  public boolean readsWhereItIsHeld(String keyspace) {
    return caches.readsWhereItIsHeld(keyspace);
  }

  @Override
  public void endBehind(Place place) {
    place.ends = true;
    ending = true;
  }

  @Override
  public void endAt(Place place) {
    place.cut = true;
    ending = true;
  }

  @Override
  public void cut() {
    ending = true; // so that failing writes are not logged
    channel.close();
  }

  /** Ends the connection with an error, after the answers to all commands under way. */
  private void end(String error) {
    Place place = answers.add(false, false);
    place.ends = true;
    answers.fill(place, new RespValue.Err(error));
    ending = true;
    refused = true;
    input.close();
    work();
  }

  private void close() {
    if (closing) {
      return;
    }
    closing = true;
    // If it were closed with unread input, the client might see a reset before our answer.
    channel.eventLoop().schedule(() -> channel.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
    if (channel.isActive() && !refused && input.size() == 0) {
      channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  @Override
  public void goOn() {
    steps.goOn();
    work();
  }

  @Override
  public void setKnown(boolean known) {
    if (known) {
      guard.greeted();
    }
    input.setLimits(known ? LIMITS : RespDecoder.Limits.UNKNOWN_USER);
  }

  @Override
  public void wakeLater() {
    if (channel.eventLoop().inEventLoop() && working) {
      return;
    }
    if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
      try {
        wakeups.add(this, channel.eventLoop());
      } catch (RejectedExecutionException e) {
        channel.close();
      }
    }
  }

  /** Gives the connection a turn, in its loop; returns how many commands it began. */
  int wake() {
    scheduled.set(false);
    turn.begin();
    if (caches.start()) {
      session.closeIfForbidden();
      steps.goOn();
    }
    work();
    return turn.requests();
  }
}
