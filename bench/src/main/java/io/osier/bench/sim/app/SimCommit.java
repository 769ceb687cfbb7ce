package io.osier.bench.sim.app;

import static io.osier.bench.sim.world.Scheduler.MILLI;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.node.SimDc;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.Random;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One commit, as the client library brings it to where its transaction lives: asked for again,
 * there alone, while its answer is lost; then a refusal says nothing, and only what the datacenter
 * knows of the transaction counts. Draws which answers are lost, which sendings come late, and what
 * a datacenter refuses before it looks.
 */
public final class SimCommit {
  private static final int TRIES_MAX = 20;
  private static final ErrorCode[] REFUSALS = {
    ErrorCode.OVERLOADED, ErrorCode.SHUTTING_DOWN, ErrorCode.STORE_FULL, ErrorCode.UNAVAILABLE
  };

  /** Asks a datacenter, and hears the reply, or null if none comes. */
  public interface Way {
    void ask(SimDc dc, Request request, Consumer<Reply> then);
  }

  /** Hears how it ended. */
  public interface Listener {
    /**
     * It is over.
     *
     * @param reply a failure if nothing was or will be done; null if that is unknown
     * @param unsure whether it was asked for more than once
     */
    void ended(@Nullable Reply reply, boolean unsure);
  }

  private final Simulation simulation;
  private final SimDc dc;
  private final ReplicaId at;
  private final Request.Transact step;
  private final long known;
  private final Random random;
  private final Way way;
  private final Listener listener;
  private boolean unsure;
  private int tries;

  /**
   * A commit that is not sent yet.
   *
   * @param known a commit number that the datacenter has given
   */
  public SimCommit(
      Simulation simulation,
      SimDc dc,
      Request.Transact step,
      long known,
      Random random,
      Way way,
      Listener listener) {
    this.simulation = simulation;
    this.dc = dc;
    this.at = dc.self();
    this.step = step;
    this.known = known;
    this.random = random;
    this.way = way;
    this.listener = listener;
  }

  public void start() {
    send();
  }

  private boolean isDrawn(int of) {
    boolean drawn = simulation.profile().losesAnswers() && random.nextInt(of) == 0;
    if (drawn) {
      simulation.losesAnswer();
    }
    return drawn;
  }

  private void send() {
    tries++;
    if (isDrawn(unsure ? 2 : 20)) {
      ErrorCode code = REFUSALS[random.nextInt(REFUSALS.length)];
      simulation.scheduler().in(4 * MILLI, () -> heard(new Reply.Failure(code, "not now")));
    } else if (!unsure && isDrawn(4)) {
      loseAnswer();
    } else {
      way.ask(dc, request(), this::heard);
    }
  }

  /** The connection is lost; what was sent on it may come after what is sent on the next one. */
  private void loseAnswer() {
    boolean late = !simulation.profile().forgetsEnds(at.dc()) && random.nextBoolean();
    long delay = late ? random.nextInt(2_000) * MILLI : 0;
    Request first = request();
    long life = dc.life();
    simulation
        .scheduler()
        .in(
            delay,
            () -> {
              // A connection lives no longer than the process.
              if (dc.isUp() && dc.self().equals(at) && dc.life() == life) {
                way.ask(dc, first, reply -> {});
              }
            });
    simulation.scheduler().in(50 * MILLI, () -> heard(null));
  }

  private Request request() {
    return unsure
        ? simulation.options().sabotage().repeat(new Request.Repeat(at, known, step))
        : step;
  }

  private void heard(@Nullable Reply answer) {
    // Who forwards it does not know whether it is done.
    boolean isLost =
        answer instanceof Reply.Failure f
            && f.code() == ErrorCode.TIMEOUT
            && dc.forwards(simulation.unit(step));
    Reply reply = isLost ? null : answer;
    boolean refused = reply instanceof Reply.Failure;
    if (reply != null
        && (!unsure || !refused || simulation.options().sabotage().believesRefusals())) {
      listener.ended(reply, unsure);
      repeatForNothing(reply);
      return;
    }
    unsure = true;
    ErrorCode code = reply instanceof Reply.Failure f ? f.code() : null;
    if (code == ErrorCode.TRANSACTION_ENDED) {
      listener.ended(reply, true);
    } else if (code == ErrorCode.TRANSACTION_FORGOTTEN
        || tries == TRIES_MAX
        || !simulation.isLoading()) {
      listener.ended(null, true);
    } else {
      simulation.scheduler().in((20 + random.nextInt(3_000)) * MILLI, this::send);
    }
  }

  /** The counter would tell. */
  private void repeatForNothing(Reply reply) {
    if (reply instanceof Reply.Transacted && random.nextInt(5) == 0) {
      unsure = true;
      way.ask(dc, request(), second -> {});
    }
  }
}
