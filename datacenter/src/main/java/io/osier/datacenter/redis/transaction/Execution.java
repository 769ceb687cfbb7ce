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
 * Runs the commands of one EXEC. At the datacenter that holds the keys it follows their plans
 * within the partition's turn; elsewhere it sends the commands to a holder and takes the answers
 * from there. Used by one thread at a time.
 */
public final class Execution implements Call.Steps {
  /**
   * Most bytes of the answers of all EXECs that are under way on a connection. Beyond it, or beyond
   * the share of all connections, an answer is an error, and commands that only read are no longer
   * done.
   */
  static final long ANSWERS_BYTES_MAX = 64L << 20;

  /** Answers up to so many bytes are always kept. */
  private static final long SMALL_BYTES = 1 << 10;

  private static final RespValue TOO_LARGE =
      new RespValue.Err(
          "ERR the answers of EXEC take more than "
              + (ANSWERS_BYTES_MAX >> 20)
              + " MiB, or there is no memory for them beside others' answers: ask for less at"
              + " once");

  /** The reply to a step that the user may take; the holder takes it. */
  private static final Reply ALLOWED = new Reply.Pong();

  private static final int KEPT_BYTES = 64 << 10;

  private static final RespValue NOT_DONE =
      new RespValue.Err("ERR internal error in the datacenter; see its log");

  private final Scope scope;
  private final List<Queued> commands;
  private final @Nullable RespValue[] answers;

  /** The budget of the connection's answers. */
  private final ByteBudget all;

  private long bytes;
  private boolean spent;

  /** The numbers of the commands that were sent to a holder; null if the commands are done here. */
  private @Nullable List<Integer> sent;

  /**
   * @param scope what the commands are translated with
   * @param commands the queued commands
   * @param all the budget that the answers are taken from, until {@link #release}
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
   * Returns the commands in the form in which they are sent to a holder, without those that the
   * user may not do.
   *
   * @param rights refuses the steps for which the user lacks a right
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

  /** Returns why the first step of a command is refused; null if it is not, or there is none. */
  private Reply.@Nullable Failure refused(
      Queued command, int number, Function<Request, Reply> ask) {
    try {
      if (command.command().does().plan(scope.drawing(number), command.words())
          instanceof Plan.Ask step) {
        for (Request request : step.requests()) {
          if (ask.apply(request) instanceof Reply.Failure failure) {
            return failure;
          }
        }
      }
    } catch (RedisException | OsierException e) {
      return null; // the holder answers the same error
    }
    return null;
  }

  /**
   * Takes the answers that a holder has given, if the commands were sent to one.
   *
   * @param parts the answers as {@link #parts} made them
   * @return the bytes that they take
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

  /** Returns whether there are no commands. */
  public boolean isEmpty() {
    return commands.isEmpty();
  }

  /**
   * Returns the answers of all commands, done here for another datacenter: a part for each.
   *
   * @param seen the version that the commands were shown
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

  /** Returns the bytes that the answers take. */
  public long bytes() {
    return bytes;
  }

  /** Gives the answers' bytes back to the budget; returns how many they were. */
  public long release() {
    all.give(bytes);
    return bytes;
  }

  /** Takes all steps of a command; its error, if there is one, is its answer. */
  private RespValue answer(Queued command, int number, Function<Request, Reply> ask) {
    try {
      Plan plan = command.command().does().plan(scope.drawing(number), command.words());
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

  /**
   * Returns the answers of all commands. The commands that only the connection can do are done now.
   */
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
