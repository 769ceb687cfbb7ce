package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.words.UpdateGrammar;
import java.util.ArrayList;
import java.util.List;
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
   * @param updated whether words of an update may stand in front of the others
   */
  public record Keys(int first, int last, int step, int counted, boolean updated) {
    /** How many words stand in front of the others, behind the name. */
    public int shift(byte[][] words) {
      int at = 1;
      int more;
      while (updated
          && at < words.length
          && (more = UpdateGrammar.length(RespDecoder.text(words[at]))) > 0) {
        at += more;
      }
      return at - 1;
    }

    /** Whether it depends on the words where they are. */
    public boolean isMovable() {
      return counted > 0 || updated;
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

  /** The first step; an error if its words are wrong, or a key belongs to another database. */
  public Plan plan(Scope scope, byte[][] words) {
    return does.plan(scope, words);
  }

  @FunctionalInterface
  public interface Translator {
    /** The first step, of as many words as the arity says; an error if they are wrong. */
    Plan plan(Scope scope, byte[][] words);
  }
}
