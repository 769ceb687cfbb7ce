package io.osier.datacenter.redis.command;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;

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
   */
  public record Keys(int first, int last, int step) {
    /** None. */
    public static final Keys NONE = new Keys(0, 0, 0);

    /** The first argument. */
    public static final Keys ONE = new Keys(1, 1, 1);

    /** The first argument tells how many follow it. */
    public static final Keys COUNTED = new Keys(0, 0, 1);

    /** Those among a command's words, its name first; as many as there are of them. */
    public List<byte[]> of(byte[][] words) {
      List<byte[]> keys = new ArrayList<>();
      if (equals(COUNTED)) {
        OptionalLong count = Numbers.parse(words[1]);
        int end = 2 + Math.clamp(count.orElse(0), 0, words.length - 2);
        for (int i = 2; i < end; i++) {
          keys.add(words[i]);
        }
        return keys;
      }
      int end = last < 0 ? words.length + last : Math.min(last, words.length - 1);
      for (int i = first; first > 0 && i <= end; i += step) {
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
