package io.osier.datacenter.frontend;

import com.esotericsoftware.kryo.io.KryoBufferOverflowException;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.core.net.Framing;
import io.osier.datacenter.access.Identity;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.ForwardedRequest;
import io.osier.datacenter.forward.ForwardedScript;
import io.osier.datacenter.forward.ForwardedSpread;
import io.osier.datacenter.forward.PeerAddress;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.datacenter.shard.RefusedParts;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.PeerListener;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.MessageHeap;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does the requests that other datacenters forward for their clients, because a keyspace is held
 * here and not there. The user's rights count as they are here. Requests for keyspaces that are not
 * held here are refused: a request goes one hop. Thread-safe.
 */
public final class ForwardedRequests {
  private static final Logger LOG = LoggerFactory.getLogger(ForwardedRequests.class);

  /**
   * The largest answer for which there is always room, since the window of the asking datacenter
   * bounds their number; in bytes.
   */
  private static final long SMALL_BYTES = 1 << 10;

  /** Larger answers are encoded by another thread than the one that brings them. */
  private static final long LARGE_BYTES = 64 << 10;

  private final String self;
  private final ClientService here;
  private final AccessControl access;
  private final Scripts scripts;
  private final ByteBudget bytes;
  private final Executor beside;

  /** The ordered queues of connections with unanswered requests. */
  private final Map<LaneOf, Lane> lanes = new ConcurrentHashMap<>();

  /**
   * The ordered queues that hold requests back until all that a peer has sent is taken, by peer.
   */
  private final Map<String, Queue<OrderedQueue>> held = new ConcurrentHashMap<>();

  /** A client's connection at another datacenter. */
  private record LaneOf(String dc, long number) {}

  private static final class Lane {
    final OrderedQueue queue = new OrderedQueue();
    int underWay;
  }

  /**
   * @param here does requests for keyspaces that are held here, and forwards none
   * @param bytes the budget of requests until they are answered, and of answers until they are sent
   * @param beside encodes large answers
   */
  public ForwardedRequests(
      String self,
      ClientService here,
      AccessControl access,
      Scripts scripts,
      ByteBudget bytes,
      Executor beside) {
    this.self = self;
    this.scripts = scripts;
    this.here = here;
    this.access = access;
    this.bytes = bytes;
    this.beside = beside;
  }

  /**
   * Takes a request of another datacenter; see {@link PeerListener#asked}.
   *
   * @param version the version of the peer protocol that it speaks
   * @throws MalformedException if the request has no id that could be answered
   */
  public void asked(ReplicaId peer, int version, byte[] content, PeerListener.Answers answers) {
    ForwardedRequest asked = ForwardedRequest.decode(content);
    Asked by = new Asked(peer.dc(), asked, answers);
    if (!by.tryKeep(ClientRequests.REQUEST_BYTES + content.length)) {
      return;
    }
    Request request;
    try {
      if (ForwardedScript.isNext(asked.request())) {
        script(ForwardedScript.read(asked.request()), by);
        return;
      }
      request = asked.decoded();
    } catch (MalformedException e) {
      // The request may be of a newer version: its datacenter must not take the connection for
      // broken.
      by.accept(unreadable(e));
      return;
    }
    Reply refusal =
        version < PeerVersions.HOMES
            ? LaterTypes.refusal(
                request, here, "datacenter " + peer.dc(), version >= PeerVersions.BY_TAG)
            : null;
    if (refusal != null) {
      by.accept(refusal);
    } else if (request instanceof Request.Ping) {
      by.accept(new Reply.Pong());
    } else if (!Forwardable.is(request)) {
      by.accept(
          failure(
              ErrorCode.INVALID_ARGUMENT,
              "does not accept this kind of request from another datacenter: "
                  + request.getClass().getSimpleName()));
    } else if (by.tryKeep(Math.min(bytes.max() / 2, MessageHeap.bytes(request)))) {
      handle(request, by);
    }
  }

  /** Does a script; the rights to its steps are checked step by step. */
  private void script(ForwardedScript asked, Asked by) {
    Scripts.Begun script;
    Request.Evaluate program;
    try {
      script = scripts.read(asked.program().keyspace(), asked.form(), asked.keys(), bytes);
      program = asked.doing(script.script());
    } catch (MalformedException e) {
      by.accept(unreadable(e));
      return;
    } catch (RuntimeException e) { // else the asker would wait, and the bytes would stay taken
      LOG.error("a script of {} cannot be read", by.dc, e);
      by.accept(failure(ErrorCode.INTERNAL, "cannot read the script: " + e));
      return;
    }
    if (!by.tryKeep(Math.min(bytes.max() / 2, MessageHeap.bytes(program)))) {
      return;
    }
    OrderedQueue lane = by.begin();
    StepRights rights = StepRights.ALL;
    SocketAddress from = new PeerAddress(by.dc);
    if (!by.asked.user().isEmpty()) {
      ConnectionUser user = new ConnectionUser(new Identity(by.asked.user(), Optional.empty()));
      Reply.Failure refusal = access.refusal(user, program, from);
      if (refusal != null) {
        by.accept(refused(refusal, by));
        return;
      }
      rights = access.stepRights(user);
    }
    StepRights checked = rights;
    ShownSteps shown = new ShownSteps();
    here.handle(
        asked.doing(script.script().answeredBy(checked).answeredBy(shown)),
        lane,
        reply -> {
          access.noteMissing(checked, by.asked.user(), from);
          Executor encodes = script.bytes() < LARGE_BYTES ? Runnable::run : beside;
          encodes.execute(() -> by.accept(script.answer(reply, shown.seen)));
        });
  }

  /** Collects what a script's steps were shown, which its client is shown with the answer. */
  private static final class ShownSteps implements UnaryOperator<Function<Request, Reply>> {
    VersionVector seen = VersionVector.EMPTY;

    @Override
    public Function<Request, Reply> apply(Function<Request, Reply> ask) {
      return step -> {
        Reply reply = ask.apply(step);
        seen = seen.join(ShownVersions.seen(reply));
        return reply;
      };
    }
  }

  private Reply.Failure unreadable(MalformedException e) {
    return failure(ErrorCode.INVALID_ARGUMENT, "cannot read the request: " + e.reason());
  }

  private Reply.Failure failure(ErrorCode code, String why) {
    return new Reply.Failure(code, "nothing was done: " + self + " " + why);
  }

  private void handle(Request request, Asked by) {
    OrderedQueue lane = by.begin();
    if (by.asked.user().isEmpty()) {
      here.handle(request, lane, reply -> by.accept(ForwardedSpread.travelling(reply)));
      return;
    }
    Identity identity = new Identity(by.asked.user(), Optional.empty());
    ConnectionUser user = new ConnectionUser(identity);
    SocketAddress from = new PeerAddress(by.dc);
    Reply.Failure refusal = access.refusal(user, request, from);
    if (refusal != null) {
      refuse(request, refusal, user, lane, by);
      return;
    }
    switch (request) {
      case ScanRequest scan ->
          here.handle(scan, lane, page -> by.accept(access.visible(identity, scan, page)));
      case Request.ReadAll batch -> handleParts(batch, user, from, lane, by);
      case Request.WriteAll batch -> handleParts(batch, user, from, lane, by);
      case Request.Transact step -> handleStep(step, lane, by);
      case Request.Repeat repeat -> handleStep(repeat, lane, by);
      case ProgressRequest.Spread spread ->
          here.handle(spread, lane, reply -> by.accept(ForwardedSpread.travelling(reply)));
      default -> here.handle(request, lane, by);
    }
  }

  /** Does a step of a transaction, whose rights the commit will need again. */
  private void handleStep(Request step, OrderedQueue lane, Asked by) {
    here.handle(
        step,
        lane,
        reply -> {
          access.answered(step, reply);
          by.accept(reply);
        });
  }

  /** Refuses a request; if it is a commit, the transaction is aborted before the answer. */
  private void refuse(
      Request request, Reply.Failure refusal, ConnectionUser user, OrderedQueue lane, Asked by) {
    Request.Transact abort = access.abortOf(user, request, refusal);
    if (abort == null) {
      by.accept(refused(refusal, by));
    } else {
      here.handle(
          abort,
          lane,
          reply -> {
            access.answered(abort, reply);
            by.accept(refusal);
          });
    }
  }

  private void handleParts(
      Request batch, ConnectionUser user, SocketAddress from, OrderedQueue lane, Asked by) {
    RefusedParts refused = access.refusedParts(user, batch, from);
    here.handle(refused.without(batch), lane, refused.with(by));
  }

  /** Returns the refusal for a client that has logged in at the other datacenter. */
  private Reply.Failure refused(Reply.Failure refusal, Asked by) {
    return refusal.code() == ErrorCode.NOT_AUTHENTICATED
        ? failure(
            ErrorCode.FORBIDDEN,
            "holds the keyspace, but does not know user '" + by.asked.user() + "' of " + by.dc)
        : refusal;
  }

  /** Called when all requests that a peer has sent so far were taken. */
  public void receivedAll(ReplicaId peer) {
    Queue<OrderedQueue> of = held.remove(peer.dc());
    if (of != null) {
      here.together(() -> OrderedQueue.releaseAll(of));
    }
  }

  /** One forwarded request until it is answered, once, by any thread. */
  private final class Asked implements Consumer<Reply> {
    private final String dc;
    private final ForwardedRequest asked;
    private final PeerListener.Answers answers;
    private @Nullable LaneOf lane;
    private long kept;

    Asked(String dc, ForwardedRequest asked, PeerListener.Answers answers) {
      this.dc = dc;
      this.asked = asked;
      this.answers = answers;
    }

    /**
     * Takes so many bytes in all until the request is answered; if there is no room, answers so and
     * returns false.
     */
    boolean tryKeep(long all) {
      long more = all - kept;
      if (more <= 0 || bytes.tryTake(more)) {
        kept = Math.max(kept, all);
        return true;
      }
      accept(
          failure(
              all <= bytes.max() ? ErrorCode.OVERLOADED : ErrorCode.VALUE_TOO_LARGE,
              "has no room for a request of "
                  + all
                  + " bytes; all that others forward to it may have "
                  + bytes.max()
                  + " bytes: osier.memory.forwarded"));
      return false;
    }

    /** Begins the request, and returns the ordered queue of its connection. */
    OrderedQueue begin() {
      if (asked.lane() == 0) {
        return new OrderedQueue();
      }
      LaneOf key = new LaneOf(dc, asked.lane());
      lane = key;
      OrderedQueue queue =
          lanes.compute(
                  key,
                  (k, there) -> {
                    Lane of = there == null ? new Lane() : there;
                    of.underWay++;
                    return of;
                  })
              .queue;
      if (queue.hold()) {
        held.compute(
            dc,
            (name, there) -> {
              Queue<OrderedQueue> all = there == null ? new ArrayDeque<>() : there;
              all.add(queue);
              return all;
            });
      }
      return queue;
    }

    @Override
    public void accept(Reply reply) {
      if (lane != null) {
        lanes.computeIfPresent(lane, (k, of) -> --of.underWay == 0 ? null : of);
      }
      bytes.give(kept);
      send(reply instanceof Reply.Failure f ? ofHere(f) : reply);
    }

    private Reply.Failure ofHere(Reply.Failure f) {
      return f.code() == ErrorCode.UNKNOWN_KEYSPACE
          ? failure(
              ErrorCode.UNAVAILABLE,
              "does not hold the keyspace for which " + dc + " asked it: " + f.message())
          : f;
    }

    private void send(Reply reply) {
      long size = MessageHeap.bytes(reply);
      if (size <= SMALL_BYTES) {
        bytes.take(size);
      } else if (!bytes.tryTake(size)) {
        send(UnsentReply.noRoom(reply));
        return;
      }
      if (size < LARGE_BYTES) {
        write(reply, size);
      } else {
        beside.execute(() -> write(reply, size));
      }
    }

    private void write(Reply reply, long size) {
      byte[] content;
      try {
        WireOutput out = new WireOutput(Framing.CLIENT_FRAME_BYTES_MAX);
        ProtocolCodec.write(out, asked.id(), reply);
        content = out.toBytes();
      } catch (KryoBufferOverflowException e) {
        content = ProtocolCodec.encode(asked.id(), UnsentReply.oversized(reply));
      } catch (RuntimeException e) {
        LOG.error("an answer to {} cannot be sent", dc, e);
        content = ProtocolCodec.encode(asked.id(), UnsentReply.unencodable(reply, e));
      }
      answers.send(content, () -> bytes.give(size));
    }
  }
}
