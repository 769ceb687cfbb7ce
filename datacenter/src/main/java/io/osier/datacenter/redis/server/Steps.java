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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the requests of a connection's commands to partitions, step by step. Many requests are
 * under way at once; they are sent in the order of the commands, and a read behind an update waits
 * for its turn in the partition. A command that may send requests more than once holds the commands
 * behind it. Used by the channel's loop; any thread brings replies, which the loop takes.
 */
final class Steps {
  private static final Logger LOG = LoggerFactory.getLogger(Steps.class);

  /** Replies of so many bytes take long to work on: to sort a set, to combine two. */
  private static final long LARGE_BYTES = 256 << 10;

  private final Channel channel;
  private final ClientRequests requests;
  private final Answers answers;
  private final Connection connection;
  private final AnswerShare share;
  private final Executor beside;

  /** The steps whose replies have all come, for the loop. */
  private final Queue<Step> done = new ConcurrentLinkedQueue<>();

  /** How many commands under way hold the commands behind them. */
  private int holding;

  /**
   * What is done once all requests are answered; null if nothing waits for that. Commands behind it
   * are held, so there is one at most.
   */
  private @Nullable Runnable alone;

  /** How many steps are under way. */
  private int underWay;

  private int updates;

  private final WrittenKeyspaces written = new WrittenKeyspaces();

  /**
   * @param connection is woken when there is something for {@link #finish}, and ends where that
   *     must be
   * @param share the budget of replies that wait
   * @param beside makes plans that would hold up the loop's other connections
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

  /** Begins no command behind the last one before {@link #goOn}. */
  void hold() {
    holding++;
  }

  /**
   * Does something once all requests are answered, and begins no command before {@link #goOn}: a
   * change of the user must not come between the steps of a command.
   */
  void alone(Runnable then) {
    hold();
    if (underWay == 0) {
      then.run();
    } else {
      alone = then;
    }
  }

  /** Returns the keyspaces to which the connection has written. */
  Set<String> written() {
    return written.all();
  }

  /** Makes a plan once all requests are answered, and follows it. */
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

  /** Returns whether no further command may be begun before another one has ended. */
  boolean isHolding() {
    return holding > 0 || !share.hasRoom(underWay);
  }

  /** Returns whether there is a step to finish. */
  boolean areAnswered() {
    return !done.isEmpty();
  }

  void close() {
    alone = null;
  }

  /**
   * Follows a command's plan.
   *
   * @param once whether the command sends requests once at most, but for rare cases
   * @param pure whether its steps follow from replies alone, and not from the session: then they
   *     may be made outside of the loop
   * @param bytes the bytes of the command's words, which the plan may hold
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
        connection.endBehind(step.place); // its user no longer exists
      }
    }
  }

  /**
   * Returns a read that takes its turn in its partition, if an update under way may change what it
   * reads, or if a copy must not answer it; other requests as they are.
   */
  private Request inTurn(Request request, boolean ordered) {
    return request instanceof Request.Read r
            && !r.ordered()
            && (ordered || connection.readsWhereItIsHeld(r.keyspace()))
        ? new Request.Read(
            r.keyspace(), r.key(), r.type(), r.query(), r.after(), true, r.waitMillis())
        : request;
  }

  /** One step of a command: requests whose replies are all awaited. */
  private final class Step {
    final Place place;
    final Plan.Ask ask;
    final boolean holds;
    final boolean pure;
    final Reply[] replies;
    final long[] replyBytes;

    /** How many replies are awaited; null for one. */
    final @Nullable AtomicInteger left;

    final int bytes;
    final long author = connection.author();
    int updates;

    /** The next plan, if it was made outside of the loop. */
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

    /** Returns the bytes of all replies; called when they are there. */
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
      if (areAnswered()) { // unless the loop has finished all steps of the batch already
        connection.wakeLater();
      }
    }
  }

  /** Goes on with the steps whose replies have come. */
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
        share.keep(0, step.place.replyBytes); // unless the answer's bytes were kept instead
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

  /**
   * Ends a step whose answer nobody gets, so that the session gives back what it took for the
   * command.
   */
  private void endUnread(Step step) {
    if (!step.pure) {
      next(step);
    }
  }

  /**
   * Has another thread make the next plan, if the replies are large; the step is finished again
   * afterwards. Returns whether it did.
   */
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
