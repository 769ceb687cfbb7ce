package io.osier.datacenter.redis.command.data;

import io.osier.core.Key;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisErrors;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.command.Scope;
import io.osier.datacenter.redis.command.Words;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;

/** LCS: the longest common subsequence of two strings. Static, for any thread. */
final class Lcs {
  /** Most cells of the table, which takes four bytes for each. */
  private static final long PLACES_MAX = 4L << 20;

  /**
   * The options of the command.
   *
   * @param length whether only the length is answered
   * @param matches whether the places of matches are answered
   * @param withLengths whether each match is answered with its length
   * @param least matches of fewer bytes are not answered
   */
  private record Wish(boolean length, boolean matches, boolean withLengths, long least) {}

  private Lcs() {}

  static Plan plan(Scope scope, byte[][] w) {
    Words words = new Words(w);
    List<Key> keys = words.keys(2);
    boolean length = false;
    boolean matches = false;
    boolean withLengths = false;
    long least = 0;
    while (words.hasNext()) {
      switch (words.option()) {
        case "LEN" -> length = true;
        case "IDX" -> matches = true;
        case "WITHMATCHLEN" -> withLengths = true;
        case "MINMATCHLEN" -> least = Math.max(0, words.integer());
        default -> throw RedisErrors.syntax();
      }
    }
    if (length && matches) {
      throw new RedisException("ERR If you want both the length and indexes, please just use IDX.");
    }
    Wish wish = new Wish(length, matches, withLengths, least);
    return Plans.readAll(
        scope, keys, parts -> Plan.answer(answer(bytes(parts.get(0)), bytes(parts.get(1)), wish)));
  }

  private static byte[] bytes(Reply part) {
    Reply.Answer answer = Plans.answerOf(part);
    if (answer.exists() && !Texts.isString(answer.type().orElseThrow())) {
      throw new RedisException("ERR The specified keys must contain string values");
    }
    return Texts.stringBytes(answer);
  }

  private static RespValue answer(byte[] a, byte[] b, Wish wish) {
    long places =
        Math.multiplyHigh(a.length + 1L, b.length + 1L) == 0
            ? (a.length + 1L) * (b.length + 1L)
            : Long.MAX_VALUE;
    if (places > PLACES_MAX) {
      throw new RedisException(
          "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
    }
    int[] lengths = lengths(a, b);
    int length = lengths[lengths.length - 1];
    return wish.length ? new RespValue.Int(length) : walk(a, b, lengths, length, wish);
  }

  /**
   * Returns, for each pair of beginnings of the two strings, the length of their common
   * subsequence.
   */
  private static int[] lengths(byte[] a, byte[] b) {
    int row = b.length + 1;
    int[] lengths = new int[(a.length + 1) * row];
    for (int i = 1; i <= a.length; i++) {
      for (int j = 1; j <= b.length; j++) {
        lengths[i * row + j] =
            a[i - 1] == b[j - 1]
                ? lengths[(i - 1) * row + j - 1] + 1
                : Math.max(lengths[(i - 1) * row + j], lengths[i * row + j - 1]);
      }
    }
    return lengths;
  }

  /**
   * Walks from the ends to the beginnings, as Redis does, so that it finds the same of several
   * common subsequences.
   */
  private static RespValue walk(byte[] a, byte[] b, int[] lengths, int length, Wish wish) {
    int row = b.length + 1;
    byte[] common = new byte[length];
    List<RespValue> matches = new ArrayList<>();
    int left = length;
    int run = 0; // the length of the match that begins at this place
    int i = a.length;
    int j = b.length;
    while (i > 0 && j > 0) {
      if (a[i - 1] == b[j - 1]) {
        common[--left] = a[i - 1];
        run++;
        i--;
        j--;
        continue;
      }
      run = ended(matches, i, j, run, wish);
      if (lengths[(i - 1) * row + j] > lengths[i * row + j - 1]) {
        i--;
      } else {
        j--;
      }
    }
    ended(matches, i, j, run, wish);
    return wish.matches
        ? RespValue.pairs("matches", new RespValue.Array(matches), "len", length)
        : new RespValue.Bulk(common);
  }

  /**
   * Notes a match that begins at two places, if it is long enough; returns the length of the next
   * one, 0.
   */
  private static int ended(List<RespValue> matches, int i, int j, int run, Wish wish) {
    if (wish.matches && run > 0 && run >= wish.least) {
      List<RespValue> match = new ArrayList<>(List.of(range(i, run), range(j, run)));
      if (wish.withLengths) {
        match.add(new RespValue.Int(run));
      }
      matches.add(new RespValue.Array(match));
    }
    return 0;
  }

  private static RespValue range(int from, int length) {
    return RespValue.array(new RespValue.Int(from), new RespValue.Int(from + length - 1L));
  }
}
