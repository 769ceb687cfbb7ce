package io.osier.datacenter.copies;

import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.StateCodec;
import io.osier.datacenter.forward.ForwardedScript;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Encodes the questions to a holder about followed objects, and its answers. Both begin with a
 * number that no request and no reply of clients has, so a datacenter that does not know them
 * refuses. Static, pure.
 */
public final class FollowCodec {
  /** The number with which questions and answers begin; a script has 126. */
  static final int KIND = 127;

  /**
   * The bytes of objects after which an answer takes no more objects: the thread that receives an
   * answer decodes it.
   */
  static final int BYTES_MAX = 48 << 10;

  /**
   * The largest answer, in bytes; a holder's answers are smaller, whatever the last object and its
   * vector take.
   */
  private static final int ANSWER_BYTES_MAX = 4 * BYTES_MAX;

  private static final int NAME_BYTES_MAX = 1 << 10;

  /**
   * Asks for the changes of objects of one partition.
   *
   * @param subscription the number of the subscription, unique in the asking process
   * @param step the number of the question; 1 begins the subscription
   * @param add keys to follow from now on; the next answers tell their states
   * @param remove the numbers of keys to follow no more
   * @param waitMillis how long the holder waits for a change, in milliseconds; 0 to answer at once
   *     with its vector
   */
  public record Ask(
      String keyspace,
      int partition,
      long subscription,
      long step,
      List<Added> add,
      List<Long> remove,
      int waitMillis) {
    public Ask {
      add = List.copyOf(add);
      remove = List.copyOf(remove);
    }
  }

  /**
   * A key that is followed.
   *
   * @param number the number by which all later messages name the key
   */
  public record Added(long number, Key key) {}

  /**
   * The objects of a key.
   *
   * @param states the states of its objects, none if the key does not exist; empty if the key
   *     cannot be followed
   * @param bytes bytes of the states on the link, about
   */
  public record Told(long number, Optional<List<CrdtState>> states, long bytes) {}

  /**
   * An answer.
   *
   * @param step 1, 2, 3, … in the order in which the holder answers, whichever question it answers
   * @param through all updates up to this vector are in the states told so far, of each followed
   *     object; empty if more has changed than fits into this answer
   */
  public record Answer(long step, Optional<VersionVector> through, List<Told> objects) {
    public Answer {
      objects = List.copyOf(objects);
    }
  }

  private FollowCodec() {}

  /**
   * Returns whether a question or an answer is of this kind.
   *
   * @param rest the question or answer after the beginning that all have
   */
  public static boolean isOfThese(WireInput rest) {
    return ForwardedScript.isNext(rest, KIND);
  }

  /** Writes a question after the beginning that all questions have. */
  public static void write(WireOutput out, Ask ask) {
    out.writeByte(KIND);
    out.writeText(ask.keyspace);
    out.writeNumber(ask.partition);
    out.writeNumber(ask.subscription);
    out.writeNumber(ask.step);
    out.writeCount(ask.add.size());
    for (Added added : ask.add) {
      out.writeNumber(added.number);
      out.writeKey(added.key);
    }
    out.writeCount(ask.remove.size());
    ask.remove.forEach(out::writeNumber);
    out.writeNumber(ask.waitMillis);
  }

  /**
   * Reads a question.
   *
   * @throws MalformedException if it is none
   */
  public static Ask readAsk(WireInput rest) {
    return Codec.readAll(
        rest,
        "who follows objects",
        in -> {
          expectKind(in);
          return new Ask(
              in.readText(NAME_BYTES_MAX),
              Math.toIntExact(in.readNumber()),
              in.readNumber(),
              in.readNumber(),
              readAll(in, 2, () -> new Added(in.readNumber(), in.readKey())),
              readAll(in, 1, in::readNumber),
              Math.toIntExact(in.readNumber()));
        });
  }

  private static void expectKind(WireInput in) {
    int kind = in.readByteUnsigned();
    if (kind != KIND) {
      throw new MalformedException("unknown kind of a message about followed objects: " + kind);
    }
  }

  private static <T> List<T> readAll(WireInput in, int bytesMin, Supplier<T> each) {
    int count = in.readCount(bytesMin);
    List<T> all = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      all.add(each.get());
    }
    return all;
  }

  /** Writes an answer after the beginning that all answers have. */
  public static void write(WireOutput out, Answer answer) {
    out.writeByte(KIND);
    out.writeNumber(answer.step);
    out.writeBoolean(answer.through.isPresent());
    answer.through.ifPresent(out::writeVector);
    out.writeCount(answer.objects.size());
    for (Told told : answer.objects) {
      out.writeNumber(told.number);
      out.writeNumber(told.states.map(s -> s.size() + 1).orElse(0));
      told.states.orElse(List.of()).forEach(state -> StateCodec.writeAll(out, state));
    }
  }

  /**
   * Reads an answer.
   *
   * @throws MalformedException if it is none
   */
  public static Answer readAnswer(WireInput rest) {
    if (rest.remaining() > ANSWER_BYTES_MAX) {
      throw new MalformedException("too large an answer: " + rest.remaining() + " bytes");
    }
    return Codec.readAll(
        rest,
        "an answer with states of followed objects",
        in -> {
          expectKind(in);
          long step = in.readNumber();
          Optional<VersionVector> through =
              in.readFlag() ? Optional.of(in.readVector()) : Optional.empty();
          List<Told> objects = readAll(in, 2, () -> readTold(in));
          if (objects.stream().map(Told::number).distinct().count() < objects.size()) {
            throw new MalformedException("an object twice in one answer");
          }
          return new Answer(step, through, objects);
        });
  }

  private static Told readTold(WireInput in) {
    int from = in.position();
    long number = in.readNumber();
    long states = in.readNumber();
    if (states > CrdtType.values().length + 1) {
      throw new MalformedException("a key cannot hold this many objects: " + states);
    }
    if (states == 0) {
      return new Told(number, Optional.empty(), in.position() - from);
    }
    List<CrdtState> all = new ArrayList<>();
    for (int i = 1; i < states; i++) {
      all.add(StateCodec.readAll(in));
    }
    return new Told(number, Optional.of(all), in.position() - from);
  }
}
