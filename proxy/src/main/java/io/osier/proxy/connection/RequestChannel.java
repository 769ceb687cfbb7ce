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
 * One channel of a {@link RemoteConnection}, from its greeting to its end: sends requests, decodes
 * the bytes that come, and delivers answers to their callers. Only its event loop calls it, except
 * where a method says otherwise.
 *
 * <p>The event loop encodes a request together with others that were added in the meantime, and
 * keeps it in a table until its answer comes. Every {@link #EXPIRY_MILLIS} ms it checks all
 * requests for their time limits, and for whether their callers still wait: a timer for each
 * request would cost more than all other work.
 */
final class RequestChannel extends FrameReader {
  /**
   * The least time for each part of a greeting, if the time limit for opening a connection is
   * shorter.
   */
  private static final long GREETING_MILLIS_MIN = 3_000;

  /** The precision of time limits, in milliseconds. */
  private static final long EXPIRY_MILLIS = 10;

  /** Marks the parts of the greeting, whose answers have no caller. */
  private static final Connection.Answered NOBODY =
      new Connection.Answered() {
        @Override
        public void answered(Reply reply) {}

        @Override
        public void lost(LostException cause) {}
      };

  /**
   * The connection that owns the channel. Called by the event loop, unless a method says otherwise.
   */
  interface Owner {
    /** Returns the datacenter's name. */
    String name();

    boolean isClosed();

    /** The datacenter has accepted the client, so requests can be sent. */
    void welcomed(RequestChannel channel, Reply.Welcome welcome);

    /**
     * The datacenter refuses the client, or the client refuses the datacenter. Called by any
     * thread.
     */
    void refused(RequestChannel channel, ErrorCode code, @Nullable String message);

    /** The channel is closed because of this error. */
    void broken(Throwable cause);

    /**
     * No more requests can be sent on the channel; the open ones fail next.
     *
     * @param known whether {@link #broken} has told the reason
     */
    void ending(RequestChannel channel, boolean known);

    /** The channel has ended, and all its requests have been answered or failed. */
    void ended();

    void answered(PendingRequest to);

    /** The request has failed without an answer. Called by any thread. */
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

  /** Whether the datacenter has accepted or refused this client. */
  private volatile boolean greeted;

  /** When a part of the greeting was sent that has no answer yet; Long.MAX_VALUE if none waits. */
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
    this.greeting = new ClientHandshake(dialling, timers, network, this);
  }

  /** Sends a request. For any thread. */
  void send(PendingRequest request) {
    requests.add(request);
  }

  /**
   * Returns whether no bytes have come for so long; a ping's answer may wait behind large frames.
   */
  boolean isSilent(long millis) {
    return timers.nanoTime() - heardNanos >= millis * 1_000_000;
  }

  /** Closes the channel; open requests fail. For any thread. */
  void close() {
    over.close();
  }

  // ---------------------------------------------------------------- the greeting

  /** Sends the next part of the greeting. For any thread. */
  void greet(Request part) {
    requests.add(new PendingRequest(part, NOBODY, 0, 0));
  }

  /** The datacenter has accepted the client, so requests can be sent. */
  void welcomed(Reply.Welcome welcome) {
    greeted = true;
    owner.welcomed(this, welcome);
  }

  /** The datacenter refuses the client, or the client refuses the datacenter. For any thread. */
  void refused(ErrorCode code, @Nullable String message) {
    greeted = true;
    owner.refused(this, code, message);
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
   * Closes the channel if the datacenter has not answered a part of the greeting in time: a process
   * that accepts connections but never answers would otherwise keep it open for ever. The client's
   * own part of a login has no limit.
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

  /** The requests that wait to be encoded and sent. */
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
      if (!(reply instanceof Reply.Pong)) { // a pong is only a sign of life, noted by heard()
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
        // The frame is complete, so its malformed content concerns this call alone.
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
    requests.flush(); // sends the requests that callbacks have made
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
    requests.flush(); // fails requests that were not sent
    owner.ended();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (!broken && !owner.isClosed()) { // each unsent buffer fails again
      owner.broken(cause);
    }
    broken = true;
    ctx.close();
  }
}
