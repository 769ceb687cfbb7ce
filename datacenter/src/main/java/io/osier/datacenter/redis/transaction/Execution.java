package io.osier.datacenter.redis.transaction;

import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.Reading;
import io.osier.datacenter.redis.RespEncoder;
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
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Follows the plans of queued commands within a partition's turn; or sends the commands where that
 * is, and takes what they are answered there. Used by one thread after the other.
 */
public final class Execution implements Call.Steps {
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
              + " MiB, or there is no memory for them beside others' answers: ask for less at"
              + " once");

  /** What a step is answered that may be taken elsewhere. */
  private static final Reply ALLOWED = new Reply.Pong();

  private static final int KEPT_BYTES = 64 << 10;

  private static final RespValue NOT_DONE =
      new RespValue.Err("ERR internal error in the datacenter; see its log");

  private final Scope scope;
  private final List<Queued> commands;
  private final @Nullable RespValue[] answers;

  /** What the answers of all that are under way on the connection take. */
  private final ByteBudget all;

  private long bytes;
  private boolean spent;

  /** Which commands were sent elsewhere, by their numbers; null where none were. */
  private @Nullable List<Integer> sent;

  /**
   * @param all what the answers may take, until {@link #release}
   */
  public Execution(Scope scope, List<Queued> commands, ByteBudget all) {
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

  // ---------------------------------------------------------------- elsewhere

  /**
   * The commands as they travel, but for those of which it is known here that they are refused.
   *
   * @param rights as of who takes the steps
   */
  byte[] form(UnaryOperator<Function<Request, Reply>> rights) {
    List<Integer> numbers = new ArrayList<>();
    List<byte[][]> words = new ArrayList<>();
    for (int i = 0; i < answers.length; i++) {
      Queued command = commands.get(i);
      if (command.own() != null) {
        continue;
      }
      Reply.Failure refused = refused(command, i, rights.apply(step -> ALLOWED));
      if (refused != null) {
        answers[i] = RedisErrors.of(refused);
      } else {
        numbers.add(i);
        words.add(command.words());
      }
    }
    sent = numbers;
    return new QueueForm(scope.resp3(), words).encode();
  }

  /** Why the first step of a command may not be taken; null if it may, or there is none. */
  private Reply.@Nullable Failure refused(
      Queued command, int number, Function<Request, Reply> ask) {
    try {
      if (command.command().plan(scope.drawing(number), command.words()) instanceof Plan.Ask step) {
        for (Request request : step.requests()) {
          if (ask.apply(request) instanceof Reply.Failure failure) {
            return failure;
          }
        }
      }
    } catch (RedisException | OsierException e) {
      return null; // it is answered there as it would be here
    }
    return null;
  }

  /**
   * Takes what the commands were answered elsewhere, if they were sent there.
   *
   * @param parts as {@link #parts} made them
   * @return what they take
   */
  long answered(List<Reply> parts) {
    List<Integer> numbers = sent;
    if (numbers == null) {
      return 0;
    }
    long taken = 0;
    for (int i = 0; i < Math.min(parts.size(), numbers.size()); i++) {
      if (parts.get(i) instanceof Reply.Answer answer
          && answer.reading().orElse(null) instanceof Reading.Single one
          && one.value().orElse(null) instanceof Value.Bytes encoded) {
        answers[numbers.get(i)] = new RespValue.Encoded(encoded.content());
        taken += encoded.content().length;
      }
    }
    return taken;
  }

  /** Whether no command is followed. */
  public boolean isEmpty() {
    return commands.isEmpty();
  }

  /**
   * What all commands have answered here, for another datacenter: a part for each.
   *
   * @param seen what they were shown
   */
  public List<Reply> parts(VersionVector seen) {
    List<Reply> parts = new ArrayList<>(answers.length);
    RespEncoder out = new RespEncoder();
    for (RespValue answer : ((RespValue.Array) answers()).values()) {
      out.write(answer, scope.resp3());
      byte[] encoded = Arrays.copyOf(out.bytes(), out.size());
      out.clear(KEPT_BYTES);
      parts.add(
          new Reply.Answer(
              Optional.empty(),
              Optional.of(new Reading.Single(Optional.of(Value.of(encoded)))),
              true,
              parts.isEmpty() ? seen : VersionVector.EMPTY));
    }
    return parts;
  }

  // ---------------------------------------------------------------- answers

  /** What the answers take. */
  public long bytes() {
    return bytes;
  }

  /** The answers are not kept here any more; how many bytes they took. */
  public long release() {
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
