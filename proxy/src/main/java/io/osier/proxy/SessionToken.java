package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.protocol.EncodedText;
import io.osier.protocol.SeenText;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a session has seen, of every partition of each keyspace: a session that starts with it
 * ({@link SessionOptions#after}), in whatever process and at whatever datacenter, sees at least as
 * much. Immutable.
 *
 * <p>It holds no secret and no right: whoever has one can make others wait for what it names, in
 * their own session alone.
 */
public final class SessionToken {
  /** Largest encoded form, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = EncodedText.BYTES_MAX;

  private final SortedMap<String, List<VersionVector>> seen;

  /**
   * A token.
   *
   * @param seen keyspace → what was seen of each of its partitions
   */
  SessionToken(Map<String, List<VersionVector>> seen) {
    this.seen = new TreeMap<>();
    seen.forEach((keyspace, vectors) -> this.seen.put(keyspace, List.copyOf(vectors)));
  }

  /** The keyspaces of which it tells something. */
  public Set<String> keyspaces() {
    return Set.copyOf(seen.keySet());
  }

  Map<String, List<VersionVector>> seen() {
    return seen;
  }

  /**
   * A text that {@link #decode} reads, of letters, digits, '-' and '_'.
   *
   * @throws OsierException VALUE_TOO_LARGE beyond {@link #BYTES_MAX}; take {@link Keyspace#token}
   *     then, which is of one keyspace alone
   */
  public String encode() {
    byte[] bytes = SeenText.bytes(seen);
    if (bytes.length > BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          "the session's past of "
              + seen.size()
              + " keyspaces takes "
              + bytes.length
              + " bytes; a token may have "
              + BYTES_MAX
              + ": take one for each keyspace");
    }
    return EncodedText.of(bytes);
  }

  /**
   * Reads a token, which may come from anywhere.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is none
   */
  public static SessionToken decode(String text) {
    return new SessionToken(SeenText.read(text, "SessionToken.encode"));
  }

  @Override
  public boolean equals(Object o) {
    return o instanceof SessionToken other && seen.equals(other.seen);
  }

  @Override
  public int hashCode() {
    return seen.hashCode();
  }

  /** What it tells, for people; {@link #encode} is for machines. */
  @Override
  public String toString() {
    return "SessionToken" + seen;
  }
}
