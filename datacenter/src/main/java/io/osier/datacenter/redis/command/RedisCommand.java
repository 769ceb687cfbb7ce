package io.osier.datacenter.redis.command;

import io.osier.datacenter.redis.RespDecoder;
import io.osier.datacenter.words.UpdateGrammar;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * A command of Redis. Immutable.
 *
 * @param name the name in capitals
 * @param arity the number of words, the name included; negative for a least number
 * @param flags the flags as COMMAND shows them
 * @param traits what Osier does with the command otherwise than with most
 * @param keys which of the words are keys
 * @param group the group as COMMAND DOCS shows it: string, hash, set, generic, ...
 * @param summary what the command does, in one sentence
 * @param does translates the command into a plan
 */
public record RedisCommand(
    String name,
    int arity,
    Set<Flag> flags,
    Set<Trait> traits,
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

  /** What Osier does with a command otherwise than with most. COMMAND does not show it. */
  public enum Trait {
    /**
     * It sends requests once, except for keys of types that Redis clients do not make: commands
     * behind it need not wait until they are answered.
     */
    ONCE,
    /** Between MULTI and EXEC it is not queued, but done. */
    DONE,
    /** It is queued between MULTI and EXEC, although the session does it: it asks no partition. */
    QUEUED,
    /** It is refused between MULTI and EXEC: it takes longer than a partition's turn may. */
    REFUSED,
    /** A subscriber may use it in RESP2. */
    SUBSCRIBED,
    /** It is a step of a transaction that OSIER.BEGIN has begun. */
    TRANSACTION,
    /** It is done while such a transaction is open, without being a step of it. */
    ALWAYS
  }

  public boolean has(Trait trait) {
    return traits.contains(trait);
  }

  /**
   * Which words of a command are keys.
   *
   * @param first the place of the first key, where the name is at 0; 0 for none
   * @param last the place of the last key; negative if counted from the end
   * @param step the distance from one key to the next
   * @param counted the place of the word that says how many keys follow it; 0 for none
   * @param updated whether the options of an update may stand in front of the other words
   */
  public record Keys(int first, int last, int step, int counted, boolean updated) {
    /** Returns how many words of options stand between the name and the other words. */
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

    /** Returns whether the places of the keys depend on the words. */
    public boolean isMovable() {
      return counted > 0 || updated;
    }

    /**
     * Returns the keys among a command's words, of which the name is the first; fewer than it names
     * if words are missing.
     */
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

  @FunctionalInterface
  public interface Translator {
    /**
     * Returns the first step of a command with as many words as its arity says.
     *
     * @throws RedisException if the words are wrong
     * @throws io.osier.core.OsierException if a key belongs to another database
     */
    Plan plan(Scope scope, byte[][] words);
  }
}
