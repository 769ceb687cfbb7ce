package io.osier.datacenter.redis.command;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * A command of Redis.
 *
 * @param name in capitals
 * @param arity the number of words, its name among them; negative for at least so many
 * @param flags as COMMAND tells them
 * @param keys where its keys are
 * @param group as COMMAND DOCS tells it: string, hash, set, generic, ...
 * @param summary what it does, in one sentence
 * @param does what is to be done for it
 */
public record RedisCommand(
    String name,
    int arity,
    Set<Flag> flags,
    Keys keys,
    String group,
    String summary,
    Translator does) {

  /** What kind of command it is. */
  public enum Flag {
    READONLY,
    WRITE,
    FAST,
    ADMIN,
    DENYOOM,
    PUBSUB,
    LOADING,
    STALE,
    NO_AUTH
  }

  /**
   * Which words are keys.
   *
   * @param first the first one, counted from the name's 0; 0 for none
   * @param last the last one; negative from the end
   * @param step from one to the next
   * @param counted the word that says how many keys follow it; 0 if none does
   * @param before how many words, with itself, belong to a word in front of the others; 0 where
   *     those begin; null if there are none in front
   */
  public record Keys(
      int first, int last, int step, int counted, @Nullable ToIntFunction<byte[]> before) {
    /** None. */
    public static final Keys NONE = new Keys(0, 0, 0);

    /** The first argument. */
    public static final Keys ONE = new Keys(1, 1, 1);

    /** Those that are at fixed places. */
    public Keys(int first, int last, int step) {
      this(first, last, step, 0, null);
    }

    /** One, at a place that is counted from behind words which may stand in front. */
    public static Keys behind(int place, ToIntFunction<byte[]> before) {
      return new Keys(place, place, 1, 0, before);
    }

    /** As many as a word says, behind it. */
    public static Keys counted(int word) {
      return new Keys(0, 0, 0, word, null);
    }

    /** How many words stand in front of the others, behind the name. */
    public int shift(byte[][] words) {
      int at = 1;
      int more;
      while (before != null && at < words.length && (more = before.applyAsInt(words[at])) > 0) {
        at += more;
      }
      return at - 1;
    }

    /** Whether it depends on the words where they are. */
    public boolean isMovable() {
      return counted > 0 || before != null;
    }

    /** Those among a command's words, its name first; as many as there are of them. */
    public List<byte[]> of(byte[][] words) {
      int shift = shift(words);
      int from = first == 0 ? 0 : first + shift;
      int to = last < 0 ? words.length + last : Math.min(last + shift, words.length - 1);
      if (counted > 0) {
        long wanted = Numbers.parse(words[counted]).orElse(0);
        from = counted + 1;
        to = counted + Math.clamp(wanted, 0, words.length - from);
      }
      List<byte[]> keys = new ArrayList<>();
      for (int i = from; from > 0 && i <= to; i += Math.max(1, step)) {
        keys.add(words[i]);
      }
      return keys;
    }
  }

  /** Decides what is to be done for a command. */
  @FunctionalInterface
  public interface Translator {
    /**
     * The first step.
     *
     * @param words the command's words, its name first; as many as its arity says
     * @throws RedisException if they are wrong
     */
    Plan plan(Scope scope, byte[][] words);
  }
}
