package io.osier.datacenter.redis.transaction;

import io.osier.core.OsierException;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Follows the plans of queued commands within a partition's turn. Used by one thread after the
 * other.
 */
final class Execution implements Call.Steps {
  /**
   * Beyond so many bytes of all that are under way on a connection, or beyond what all connections
   * may have, an answer is an error, and what only reads is not done any more.
   */
  static final long ANSWERS_BYTES_MAX = 64L << 20;

  /** An answer that is not larger is let in in any case. */
  private static final long SMALL_BYTES = 1 << 10;

  private static final RespValue TOO_LARGE =
      new RespValue.Err(
          "ERR the answers of EXEC take more than "
              + (ANSWERS_BYTES_MAX >> 20)
              + " MiB, or find no room beside others': ask for less at once");

  private static final RespValue NOT_DONE = new RespValue.Err("ERR a fault of the datacenter");

  private final Scope scope;
  private final List<Queued> commands;
  private final @Nullable RespValue[] answers;

  /** What the answers of all that are under way on the connection take. */
  private final ByteBudget all;

  private long bytes;
  private boolean spent;

  Execution(Scope scope, List<Queued> commands, ByteBudget all) {
    this.all = all;
    this.scope = scope;
    this.commands = commands;
    this.answers = new RespValue[commands.size()];
  }

  @Override
  public void run(Function<Request, Reply> ask) {
    for (int i = 0; i < answers.length; i++) {
      Queued command = commands.get(i);
      if (command.own() == null) {
        answers[i] = fitted(command, i, ask);
      }
    }
  }

  private RespValue fitted(Queued command, int number, Function<Request, Reply> ask) {
    if (spent && !command.isUpdate()) {
      return TOO_LARGE;
    }
    RespValue answer = answer(command, number, ask);
    long more = RespValue.bytesOf(answer);
    if (more <= SMALL_BYTES) {
      all.take(more);
    } else if (!all.tryTake(more)) {
      spent = true;
      return TOO_LARGE;
    }
    bytes += more;
    return answer;
  }

  /** The answers are not kept here any more; how many bytes they took. */
  long release() {
    all.give(bytes);
    return bytes;
  }

  /** Takes all steps of a command; an error of its own stands in its place. */
  private RespValue answer(Queued command, int number, Function<Request, Reply> ask) {
    try {
      Plan plan = command.command().plan(scope.drawing(number), command.words());
      while (plan instanceof Plan.Ask step) {
        List<Reply> replies = new ArrayList<>(step.requests().size());
        for (Request request : step.requests()) {
          replies.add(ask.apply(request));
        }
        plan = step.then().apply(replies);
      }
      return ((Plan.Answer) plan).value();
    } catch (RedisException | OsierException e) {
      return RedisErrors.of(e);
    }
  }

  /** What all commands have answered; those of the connection are done now. */
  RespValue answers() {
    for (int i = 0; i < answers.length; i++) {
      Supplier<RespValue> own = commands.get(i).own();
      if (own != null) {
        answers[i] = own(own);
      } else if (answers[i] == null) {
        answers[i] = NOT_DONE;
      }
    }
    return new RespValue.Array(Arrays.asList(answers));
  }

  private static RespValue own(Supplier<RespValue> own) {
    try {
      return own.get();
    } catch (RedisException | OsierException e) {
      return RedisErrors.of(e);
    }
  }
}
