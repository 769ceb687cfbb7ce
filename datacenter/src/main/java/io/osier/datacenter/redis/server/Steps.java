package io.osier.datacenter.redis.server;

import io.netty.channel.Channel;
import io.osier.core.OsierException;
import io.osier.datacenter.frontend.AnswerShare;
import io.osier.datacenter.frontend.Asked;
import io.osier.datacenter.frontend.ClientRequests;
import io.osier.datacenter.frontend.UnsentReply;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.WrittenKeyspaces;
import io.osier.datacenter.redis.server.Connection.Place;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the commands of a connection ask of partitions, step by step. Many are under way at once;
 * they are asked in the order of the commands, and a read behind an update waits for its turn
 * there. A command that may ask more than once holds up those behind it. Used by the channel's
 * loop; replies come from any thread, and are taken by the loop.
 */
final class Steps {
  private static final Logger LOG = LoggerFactory.getLogger(Steps.class);

  /** What follows from so much takes long: to sort a set, to combine two. */
  private static final long LARGE_BYTES = 256 << 10;

  private final Channel channel;
  private final ClientRequests requests;
  private final Answers answers;
  private final Connection connection;
  private final AnswerShare share;
  private final Executor beside;

  /** What was asked and is answered, for the loop. */
  private final Queue<Step> done = new ConcurrentLinkedQueue<>();

  /** How many commands are under way that hold up those behind them. */
  private int holding;

  /**
   * What is done once all requests are answered; null if nothing waits for that. Commands behind it
   * are held, so there is one at most.
   */
  private @Nullable Runnable alone;

  /** How much was asked and is not answered. */
  private int underWay;

  private int updates;

  private final WrittenKeyspaces written = new WrittenKeyspaces();

  /**
   * @param connection hears when there is something for {@link #finish}, and that it must end
   * @param share of what was read and waits
   * @param beside where it is gone on with what would hold up the loop's other connections
   */
  Steps(
      Channel channel,
      ClientRequests requests,
      Answers answers,
      Connection connection,
      AnswerShare share,
      Executor beside) {
    this.beside = beside;
    this.channel = channel;
    this.requests = requests;
    this.answers = answers;
    this.connection = connection;
    this.share = share;
  }

  /** Nothing behind the last command is begun before {@link #goOn}. */
  void hold() {
    holding++;
  }

  /**
   * Does something once all that was asked is answered to its end, and begins nothing before {@link
   * #goOn}: what changes whose commands they are must not come between the steps of one.
   */
  void alone(Runnable then) {
    hold();
    if (underWay == 0) {
      then.run();
    } else {
      alone = then;
    }
  }

  /** Follows a plan about all keyspaces to which something was written, with nothing beside it. */
  void behindWrites(Place place, Function<Set<String>, Plan> then) {
    behindAll(place, () -> then.apply(written.all()));
  }

  /** Follows a plan, which is made once all that was asked is answered, with nothing beside it. */
  void behindAll(Place place, Supplier<Plan> plan) {
    alone(
        () -> {
          goOn(); // the plan holds up what is behind it by itself
          follow(place, plan.get(), false, false, 0);
        });
  }

  void goOn() {
    holding--;
  }

  /** Whether no further command may be begun before another one has ended. */
  boolean isHolding() {
    return holding > 0 || !share.hasRoom(underWay);
  }

  /** Whether something was answered with which it was not gone on. */
  boolean areAnswered() {
    return !done.isEmpty();
  }

  void close() {
    alone = null;
  }

  /**
   * Follows a command's plan.
   *
   * @param once whether it asks once at most, but for rare cases
   * @param pure whether its steps follow from replies alone, and not from the session: then they
   *     may be decided beside the loop
   * @param bytes what it had as it came, which the plan may hold
   */
  void follow(Place place, Plan plan, boolean once, boolean pure, int bytes) {
    if (plan instanceof Plan.Answer answer) {
      answers.fill(place, answer.value());
      return;
    }
    Plan.Ask ask = (Plan.Ask) plan;
    boolean scans = ask.scans();
    Step step = new Step(place, ask, !once || scans, pure, bytes);
    if (step.holds) {
      holding++;
    }
    if (scans && underWay > 0) {
      alone = () -> ask(step); // a scan takes no turn among updates
    } else {
      ask(step);
    }
  }

  private void ask(Step step) {
    List<Request> all = step.ask.requests();
    for (Request request : all) {
      if (Plan.isUpdate(request)) {
        step.updates++;
        written.note(request);
      }
    }
    boolean ordered = updates > 0;
    underWay++;
    updates += step.updates;
    long now = requests.nanos();
    for (int i = 0; i < all.size(); i++) {
      Request request = all.get(i);
      Request inTurn = inTurn(request, ordered);
      if (!requests.ask(new Part(step, i, inTurn, now), i == 0 ? step.bytes : 0)) {
        connection.endBehind(step.place); // its user is not there any more
      }
    }
  }

  /**
   * A read takes its turn in its partition if an update under way may change what it reads, or if
   * it must not be answered by a copy.
   */
  private Request inTurn(Request request, boolean ordered) {
    return request instanceof Request.Read r
            && !r.ordered()
            && (ordered || connection.readsWhereItIsHeld(r.keyspace()))
        ? new Request.Read(
            r.keyspace(), r.key(), r.type(), r.query(), r.after(), true, r.waitMillis())
        : request;
  }

  /** Something that was asked for a command, all of whose replies are awaited. */
  private final class Step {
    final Place place;
    final Plan.Ask ask;
    final boolean holds;
    final boolean pure;
    final Reply[] replies;
    final long[] replyBytes;

    /** How many replies are awaited; null where it is one. */
    final @Nullable AtomicInteger left;

    final int bytes;
    final long author = connection.author();
    int updates;

    /** What follows, where that was decided beside the loop. */
    @Nullable Plan next;

    Step(Place place, Plan.Ask ask, boolean holds, boolean pure, int bytes) {
      this.place = place;
      this.ask = ask;
      this.holds = holds;
      this.pure = pure;
      this.bytes = bytes;
      this.replies = new Reply[ask.requests().size()];
      this.replyBytes = new long[replies.length];
      this.left = replies.length == 1 ? null : new AtomicInteger(replies.length);
    }

    /** What all replies take; once they are there. */
    long replyBytes() {
      long sum = 0;
      for (long each : replyBytes) {
        sum += each;
      }
      return sum;
    }

    void replied(int index, Reply reply, boolean wakes) {
      long kept = share.keep(reply);
      replies[index] = kept < 0 ? UnsentReply.noRoom(reply) : reply;
      replyBytes[index] = Math.max(0, kept);
      if (left == null || left.decrementAndGet() == 0) {
        done.add(this);
        if (wakes) {
          connection.wakeLater();
        }
      }
    }
  }

  private final class Part extends Asked {
    private final Step step;
    private final int index;

    Part(Step step, int index, Request request, long beganNanos) {
      super(requests, request, beganNanos);
      this.step = step;
      this.index = index;
    }

    @Override
    public long author() {
      return step.author;
    }

    @Override
    protected void answer(Reply reply) {
      if (reply instanceof Reply.Failure f) {
        requests.watch().failed(f.code());
      }
      step.replied(index, reply, !isBatched());
    }

    @Override
    protected void batchTold() {
      if (areAnswered()) { // unless the loop has all that the batch has answered already
        connection.wakeLater();
      }
    }
  }

  /** Goes on with what was answered. */
  void finish() {
    Step step;
    while ((step = done.poll()) != null) {
      if (goesOnBeside(step)) {
        continue;
      }
      underWay--;
      long bytes = step.replyBytes();
      share.learn(bytes);
      updates -= step.updates;
      step.place.replyBytes = bytes;
      boolean isRead = channel.isActive();
      try {
        if (isRead) {
          finish(step);
        } else {
          endUnread(step);
        }
      } finally {
        share.keep(0, step.place.replyBytes); // unless the answer has taken their place
        step.place.replyBytes = 0;
      }
      if (!isRead) {
        continue;
      }
      Runnable then = alone;
      if (then != null && underWay == 0) {
        alone = null;
        then.run();
      }
    }
  }

  private void finish(Step step) {
    if (RedisErrors.endConnection(step.ask.requests(), step.replies)) {
      LOG.warn(
          "connection of client {} closed, as the protocol has no answer for {}",
          channel.remoteAddress(),
          Arrays.toString(step.replies));
      endUnread(step);
      connection.endAt(step.place);
      alone = null; // a message behind an update that may be lost is not published
      return;
    }
    if (step.holds) {
      holding--;
    }
    Plan next = step.next;
    follow(step.place, next == null ? next(step) : next, false, step.pure, step.bytes);
  }

  /** Nobody gets the answer, but what the session has taken for the command is given back. */
  private void endUnread(Step step) {
    if (!step.pure) {
      next(step);
    }
  }

  /** Whether what follows is decided in another thread; then the step is done once more. */
  private boolean goesOnBeside(Step step) {
    if (!step.pure
        || step.next != null
        || step.replyBytes() < LARGE_BYTES
        || !channel.isActive()
        || RedisErrors.endConnection(step.ask.requests(), step.replies)) {
      return false;
    }
    try {
      beside.execute(
          () -> {
            step.next = next(step);
            done.add(step);
            connection.wakeLater();
          });
      return true;
    } catch (RejectedExecutionException e) {
      return false; // the port is being closed
    }
  }

  private Plan next(Step step) {
    try {
      return step.ask.then().apply(List.of(step.replies));
    } catch (RuntimeException e) {
      if (!(e instanceof RedisException || e instanceof OsierException)) {
        LOG.error("internal error in a command of client {}", channel.remoteAddress(), e);
      }
      return new Plan.Answer(RedisErrors.of(e));
    }
  }
}
