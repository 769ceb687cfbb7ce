package io.osier.proxy.connection;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ConnectTimeoutException;
import io.osier.core.ErrorCode;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.FrameReader;
import io.osier.core.net.Framing;
import io.osier.core.net.InFlight;
import io.osier.core.net.Network;
import io.osier.core.net.Outgoing;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Connection;
import io.osier.proxy.LostException;
import io.osier.proxy.Timers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One channel of a {@link RemoteConnection}, from its greeting to its end: requests out, bytes in,
 * answers to whoever waits for them. All but sending is its loop's.
 *
 * <p>A request is encoded by the loop, together with those that have come in the meantime, and
 * waits for its answer in a table of that loop. Its time limit, and whether somebody still waits
 * for it, is looked at every {@link #EXPIRY_MILLIS} ms with those of all others: a timer for each
 * would cost more than the rest.
 */
final class RequestChannel extends FrameReader {
  /** So long the parts of a greeting may take, however little the opening of the connection may. */
  private static final long GREETING_MILLIS_MIN = 3_000;

  /** How exactly time limits are kept. */
  private static final long EXPIRY_MILLIS = 10;

  /** Who waits for the greeting's answer, which is the connection's own affair. */
  private static final Connection.Answered NOBODY =
      new Connection.Answered() {
        @Override
        public void answered(Reply reply) {}

        @Override
        public void lost(LostException cause) {}
      };

  /** Whose channel it is. Called by the channel's loop, but for what is said otherwise. */
  interface Owner {
    /** The other end's name. */
    String name();

    boolean isClosed();

    /** The datacenter has taken the client: requests can be sent. */
    void welcomed(RequestChannel channel, Reply.Welcome welcome);

    /** The datacenter does not take this client, or this client does not take it. By any thread. */
    void refused(RequestChannel channel, ErrorCode code, @Nullable String message);

    /** The channel is closed because of this. */
    void broken(Throwable cause);

    /**
     * No request can be sent on it any more; those that are open fail next.
     *
     * @param known whether {@link #broken} has told why
     */
    void ending(RequestChannel channel, boolean known);

    /** It is over, and nobody waits for an answer of it any more. */
    void ended();

    void answered(PendingRequest to);

    /** None will. By any thread. */
    void failed(PendingRequest request, LostException cause);
  }

  private final Channel over;
  private final Owner owner;
  private final Timers timers;
  private final Requests requests;
  private final ClientHandshake greeting;
  private final long greetingMillis;
  private final InFlight<PendingRequest> pending = new InFlight<>();
  private long ids;
  private boolean expiryDue;
  private boolean ended;
  private boolean broken;

  /** Whether the datacenter has let this client in, or has said that it does not. */
  private volatile boolean greeted;

  /** Since when a part of the greeting waits for its answer; Long.MAX_VALUE while none does. */
  private volatile long askedNanos = Long.MAX_VALUE;

  /** When bytes came last, by the client's timers. */
  private volatile long heardNanos;

  RequestChannel(Channel over, Owner owner, Dialling dialling, Timers timers, Network network) {
    super(Framing.CLIENT_FRAME_BYTES_MAX);
    this.over = over;
    this.owner = owner;
    this.timers = timers;
    this.heardNanos = timers.nanoTime();
    this.greetingMillis = Math.max(GREETING_MILLIS_MIN, dialling.connectTimeout().toMillis());
    this.requests = new Requests();
    this.greeting = new ClientHandshake(dialling, timers, network, new Greeted());
  }

  /** Sends a request. For any thread. */
  void send(PendingRequest request) {
    requests.add(request);
  }

  /** Whether nothing has come for so long: a ping may wait behind something large. */
  boolean isSilent(long millis) {
    return timers.nanoTime() - heardNanos >= millis * 1_000_000;
  }

  /** Ends it; what is open fails. For any thread. */
  void close() {
    over.close();
  }

  // ---------------------------------------------------------------- the greeting

  /** What comes of the greeting. */
  private final class Greeted implements ClientHandshake.Outcome {
    @Override
    public void send(Request part) {
      requests.add(new PendingRequest(part, NOBODY, 0, 0));
    }

    @Override
    public void welcomed(Reply.Welcome welcome) {
      greeted = true;
      owner.welcomed(RequestChannel.this, welcome);
    }

    @Override
    public void refused(ErrorCode code, @Nullable String message) {
      greeted = true;
      owner.refused(RequestChannel.this, code, message);
    }

    @Override
    public void meaningless() {
      over.close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    if (owner.isClosed()) {
      ctx.close();
      return;
    }
    greeting.begin();
    checkGreetingLater(greetingMillis);
  }

  private void checkGreetingLater(long millis) {
    over.eventLoop().schedule(this::checkGreeting, millis, TimeUnit.MILLISECONDS);
  }

  /**
   * Whoever accepts may be gone, or stand still, before it has said anything: then nothing else
   * would ever end the connection. What a login asks of this side takes as long as it takes.
   */
  private void checkGreeting() {
    if (greeted || ended) {
      return;
    }
    long since = askedNanos;
    if (since == Long.MAX_VALUE || timers.nanoTime() - since < greetingMillis * 1_000_000) {
      checkGreetingLater(Math.max(1, greetingMillis / 4));
      return;
    }
    if (!broken) {
      owner.broken(new ConnectTimeoutException("no answer to the greeting"));
    }
    broken = true;
    over.close();
  }

  // ---------------------------------------------------------------- requests

  /** Requests on their way out. */
  private final class Requests extends Outgoing<PendingRequest> {
    Requests() {
      super(over);
    }

    @Override
    protected boolean write(WireOutput to, PendingRequest one) {
      if (ended) {
        fail(one, ErrorCode.UNAVAILABLE, false, "the connection to " + owner.name() + " was lost");
        return false;
      }
      if (isGreeting(one)) {
        ProtocolCodec.write(to, 0, one.request());
        askedNanos = timers.nanoTime();
        return true;
      }
      if (one.deadlineNanos() - timers.nanoTime() <= 0) {
        fail(one, ErrorCode.TIMEOUT, false, "the time limit was over before it could be sent");
        return false;
      }
      if (!one.answered().begins()) {
        owner.failed(one, Connection.isNotWanted(false));
        return false;
      }
      long id = ++ids;
      ProtocolCodec.write(to, id, one.request());
      pending.put(id, one);
      if (!expiryDue) {
        expireLater();
      }
      return true;
    }

    @Override
    protected void failed(PendingRequest one, RuntimeException cause) {
      switch (cause) {
        case KryoBufferOverflowException e ->
            fail(
                one,
                ErrorCode.VALUE_TOO_LARGE,
                false,
                "the request is larger than "
                    + (Framing.CLIENT_FRAME_BYTES_MAX >> 20)
                    + " MiB; split it into several");
        case RejectedExecutionException e ->
            fail(one, ErrorCode.UNAVAILABLE, false, "this client is closed");
        default -> fail(one, ErrorCode.INVALID_ARGUMENT, false, "it cannot be encoded: " + cause);
      }
    }

    @Override
    protected boolean flushesSoon() {
      return isReading();
    }
  }

  private static boolean isGreeting(PendingRequest one) {
    return one.answered() == NOBODY;
  }

  private void expireLater() {
    expiryDue = true;
    over.eventLoop().schedule(this::expire, EXPIRY_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void expire() {
    long now = timers.nanoTime();
    List<Long> late = new ArrayList<>(0);
    pending.forEach(
        (one, id) -> {
          if (one.deadlineNanos() - now <= 0 || !one.answered().isWanted()) {
            late.add(id);
          }
        });
    for (long id : late) {
      PendingRequest one = pending.remove(id);
      if (one != null && !one.answered().isWanted()) {
        owner.failed(one, Connection.isNotWanted(true));
      } else if (one != null) {
        long millis = (one.deadlineNanos() - one.startNanos()) / 1_000_000;
        fail(
            one,
            ErrorCode.TIMEOUT,
            true,
            owner.name() + " did not answer within " + millis + " ms");
      }
    }
    expiryDue = false;
    if (!pending.isEmpty()) {
      expireLater();
    }
  }

  private void fail(PendingRequest one, ErrorCode code, boolean sent, String message) {
    if (!isGreeting(one)) {
      owner.failed(one, new LostException(code, sent, message));
    }
  }

  // ---------------------------------------------------------------- answers

  @Override
  protected void frame(ChannelHandlerContext ctx, WireInput content) {
    long id = ProtocolCodec.decodeId(content);
    if (id == 0) {
      Reply reply = ProtocolCodec.decodeReplyBody(content);
      if (!(reply instanceof Reply.Pong)) { // that is a sign of life, and heard
        askedNanos = Long.MAX_VALUE;
        greeting.heard(reply);
      }
      return;
    }
    PendingRequest waiting = pending.remove(id);
    if (waiting != null) {
      Reply reply;
      try {
        reply = ProtocolCodec.decodeReplyBody(content);
      } catch (MalformedException e) {
        // The frame is whole, so what is wrong in it concerns this call alone.
        String why = owner.name() + " answered, but: " + e.reason();
        fail(waiting, ErrorCode.MALFORMED, true, why);
        return;
      }
      owner.answered(waiting);
      waiting.answered().answered(reply);
    }
  }

  @Override
  protected void heard() {
    heardNanos = timers.nanoTime();
  }

  @Override
  protected void frames(ChannelHandlerContext ctx) {
    requests.flush(); // what the answers have brought about
  }

  // ---------------------------------------------------------------- the end

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    super.channelInactive(ctx);
    ended = true;
    owner.ending(this, broken);
    String why =
        owner.isClosed()
            ? "this client was closed"
            : "the connection to " + owner.name() + " was lost";
    for (PendingRequest one : pending.removeAll()) {
      fail(one, ErrorCode.UNAVAILABLE, true, why);
    }
    requests.flush(); // fails what has not been sent
    owner.ended();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!broken && !owner.isClosed()) { // each buffer that is not sent fails once more
      owner.broken(cause);
    }
    broken = true;
    ctx.close();
  }
}
