package io.osier.datacenter.redis.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.osier.core.OsierException;
import io.osier.core.OutOfMemory;
import io.osier.core.tls.TlsTrouble;
import io.osier.datacenter.frontend.Asked;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.frontend.ClientServer;
import io.osier.datacenter.redis.ProtocolError;
import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.propagation.net.link.ConnectionGuard;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection that speaks the Redis protocol: commands in, answers out in the same order. Many
 * commands are under way at once; what one asks of partitions is asked in the order of the
 * commands, and a read behind an update waits for its turn there. A command that may ask more than
 * once holds up those behind it. Used by the channel's loop; replies come from any thread, and are
 * taken by the loop.
 */
final class RespConnection extends ChannelInboundHandlerAdapter implements ClientServer.Visitor {
  private static final Logger LOG = LoggerFactory.getLogger(RespConnection.class);

  /** So many commands of a connection are under way at most. */
  private static final int COMMANDS_MAX = 1_024;

  /** Beyond this what comes waits in the network while commands behind another one wait. */
  private static final int UNTAKEN_MAX = 1 << 16;

  /** Time for a refusal to be read before the connection is closed. */
  private static final long REFUSED_MILLIS = 100;

  private final Channel channel;
  private final ClientRequests requests;
  private final ConnectionGuard guard;
  private final Input input;
  private final Answers answers;
  private final RespSession session;

  /** What was asked and is answered, for the loop. */
  private final Queue<Step> done = new ConcurrentLinkedQueue<>();

  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Wakeups wakeups = Wakeups.ofLoop();

  private boolean working;

  /** Whether no whole command is left of what has come. */
  private boolean starved = true;

  /** How many commands are under way that hold up those behind them. */
  private int holding;

  /** What must wait until no update is under way. */
  private @Nullable Step waiting;

  private int updates;

  /** Whether no further command is taken: the connection ends. */
  private boolean ending;

  /** Whether that is because of what has come, and more may come of it. */
  private boolean refused;

  private boolean closing;

  RespConnection(
      Channel channel, RedisPort port, Function<ClientRequests.Room, ClientRequests> requests) {
    this.channel = channel;
    this.input = new Input();
    this.requests = requests.apply(input);
    this.guard = new ConnectionGuard(this.requests.port(), this::isInCommand);
    this.answers = new Answers(channel);
    this.session = new RespSession(channel, port, this.requests, this);
  }

  // ---------------------------------------------------------------- for the port

  @Override
  public ConnectionGuard guard() {
    return guard;
  }

  private boolean isInCommand() {
    return !ending && holding == 0 && input.size() > 0;
  }

  @Override
  public void closeIfGone() {
    requests.closeIfGone();
  }

  @Override
  public long waitingBytes() {
    return answers.waitingBytes();
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (ctx.pipeline().first() == guard) { // otherwise it shows a certificate first
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
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    listen();
    if (channel.isWritable()) {
      ctx.executor().execute(this::work); // not at once: this may be called while it works
    }
    ctx.fireChannelWritabilityChanged();
  }

  /** Who does not read its answers, or has sent more than can be begun, is not listened to. */
  private void listen() {
    boolean listens = channel.isWritable() && (starved || input.size() < UNTAKEN_MAX);
    if (channel.config().isAutoRead() != listens) {
      channel.config().setAutoRead(listens);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    ending = true;
    waiting = null;
    input.close();
    answers.close();
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

  /** Goes on with what was answered, and takes what has come. */
  void work() {
    if (working) {
      return;
    }
    working = true;
    try {
      do {
        requests.hold();
        try {
          finish();
          take();
        } finally {
          requests.release();
        }
        answers.flush();
      } while (!done.isEmpty() || (!starved && mayTake()));
      listen();
      if (answers.isEnded() || (ending && answers.size() == 0)) {
        close();
      }
    } catch (RuntimeException e) {
      LOG.error("a fault at the connection of client {}", channel.remoteAddress(), e);
      channel.close();
    } finally {
      working = false;
    }
  }

  private boolean mayTake() {
    return !ending && holding == 0 && answers.size() < COMMANDS_MAX && channel.isWritable();
  }

  private void take() {
    try {
      while (mayTake()) {
        if (!input.next()) {
          starved = true;
          break;
        }
        guard.frame();
        byte[][] words = input.words();
        if (words.length > 0) {
          NotServed.checkNoHttp(words[0]);
          session.command(words);
        }
      }
    } catch (ProtocolError e) {
      requests.watch().malformed();
      requests.port().log(channel, String.valueOf(e.getMessage()));
      end("ERR " + e.getMessage());
    }
    input.settle();
  }

  /** A place for the answer to a command. */
  Place place(boolean resp3, boolean silent) {
    return answers.add(resp3, silent);
  }

  /** The answer to a command. */
  void answer(Place place, RespValue value) {
    answers.fill(place, value);
  }

  /** Nothing behind a command is done; the connection ends behind its answer. */
  void endBehind(Place place) {
    place.ends = true;
    ending = true;
  }

  /** Says why the connection ends, behind all that is under way. */
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
    // What still comes would have the system tell the other end of an error, before it has read.
    channel.eventLoop().schedule(() -> channel.close(), REFUSED_MILLIS, TimeUnit.MILLISECONDS);
    if (channel.isActive() && !refused && input.size() == 0) {
      channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** Nothing behind the last command is begun before {@link #goOn}. */
  void hold() {
    holding++;
  }

  /** What was held is begun. */
  void goOn() {
    holding--;
    work();
  }

  /** It is known who this is. */
  void welcome(RespDecoder.Limits limits) {
    guard.greeted();
    input.setLimits(limits);
  }

  // ---------------------------------------------------------------- steps

  /**
   * Follows a command's plan.
   *
   * @param once whether it asks once at most, but for rare cases
   */
  void follow(Place place, Plan plan, boolean once) {
    if (plan instanceof Plan.Answer answer) {
      answers.fill(place, answer.value());
      return;
    }
    Plan.Ask ask = (Plan.Ask) plan;
    boolean scans = ask.requests().stream().anyMatch(Request.Scan.class::isInstance);
    Step step = new Step(place, ask, !once || scans);
    if (step.holds) {
      holding++;
    }
    if (scans && updates > 0) {
      waiting = step; // a scan takes no turn among updates
    } else {
      ask(step);
    }
  }

  private void ask(Step step) {
    List<Request> all = step.ask.requests();
    for (Request request : all) {
      if (isUpdate(request)) {
        step.updates++;
      }
    }
    boolean ordered = updates > 0;
    updates += step.updates;
    long now = requests.nanos();
    for (int i = 0; i < all.size(); i++) {
      Request request = all.get(i);
      Request inTurn = ordered ? ordered(request) : request;
      if (!requests.ask(new Part(step, i, inTurn, now), 0)) {
        endBehind(step.place); // its user is not there any more
      }
    }
  }

  private static boolean isUpdate(Request request) {
    return !(request instanceof Request.Read
        || request instanceof Request.ReadAll
        || request instanceof Request.Scan);
  }

  /** A read of what an update under way may change. */
  private static Request ordered(Request request) {
    return request instanceof Request.Read r && !r.ordered()
        ? new Request.Read(
            r.keyspace(), r.key(), r.type(), r.query(), r.after(), true, r.waitMillis())
        : request;
  }

  /** Something that was asked for a command, all of whose replies are awaited. */
  private final class Step {
    final Place place;
    final Plan.Ask ask;
    final boolean holds;
    final Reply[] replies;
    final AtomicInteger left;
    int updates;

    Step(Place place, Plan.Ask ask, boolean holds) {
      this.place = place;
      this.ask = ask;
      this.holds = holds;
      this.replies = new Reply[ask.requests().size()];
      this.left = new AtomicInteger(replies.length);
    }

    void replied(int index, Reply reply) {
      replies[index] = reply;
      if (left.decrementAndGet() == 0) {
        RespConnection.this.replied(this);
      }
    }
  }

  /** One request of a step. */
  private final class Part extends Asked {
    private final Step step;
    private final int index;

    Part(Step step, int index, Request request, long beganNanos) {
      super(requests, request, beganNanos);
      this.step = step;
      this.index = index;
    }

    @Override
    protected void answer(Reply reply) {
      if (reply instanceof Reply.Failure f) {
        requests.watch().failed(f.code());
      }
      step.replied(index, reply);
    }
  }

  /** By any thread. */
  private void replied(Step step) {
    done.add(step);
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

  /** Goes on with what was answered. Called by the loop. */
  void wake() {
    scheduled.set(false);
    work();
  }

  private void finish() {
    Step step;
    while ((step = done.poll()) != null) {
      updates -= step.updates;
      if (!channel.isActive()) {
        continue;
      }
      finish(step);
      Step next = waiting;
      if (next != null && updates == 0) {
        waiting = null;
        ask(next);
      }
    }
  }

  private void finish(Step step) {
    if (endsConnection(step)) {
      LOG.warn(
          "connection of client {} closed: what was asked has no certain outcome: {}",
          channel.remoteAddress(),
          Arrays.toString(step.replies));
      step.place.cut = true;
      ending = true;
      return;
    }
    if (step.holds) {
      holding--;
    }
    Plan next;
    try {
      next = step.ask.then().apply(List.of(step.replies));
    } catch (RedisException e) {
      next = new Plan.Answer(new RespValue.Err(e.error()));
    } catch (OsierException e) {
      next = new Plan.Answer(RedisErrors.of(e));
    } catch (RuntimeException e) {
      LOG.error("a fault at a command of client {}", channel.remoteAddress(), e);
      next = new Plan.Answer(new RespValue.Err("ERR a fault of the datacenter: " + e));
    }
    follow(step.place, next, false);
  }

  private static boolean endsConnection(Step step) {
    for (Reply reply : step.replies) {
      if (reply instanceof Reply.Failure f && RedisErrors.endsConnection(f.code())) {
        return true;
      }
    }
    return false;
  }
}
