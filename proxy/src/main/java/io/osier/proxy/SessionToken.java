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
 * What a session has seen in each partition of each keyspace. A session that starts with the token
 * ({@link SessionOptions#after}), in any process and at any datacenter, sees at least as much.
 * Immutable.
 *
 * <p>A token contains no secret and gives no rights: its only effect is that a session that uses it
 * waits for the updates that it names.
 */
public final class SessionToken {
  /** Largest encoded form, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = EncodedText.BYTES_MAX;

  private final SortedMap<String, List<VersionVector>> seen;

  /**
   * Makes a token.
   *
   * @param seen the version vectors of the partitions, by keyspace
   */
  SessionToken(Map<String, List<VersionVector>> seen) {
    this.seen = new TreeMap<>();
    seen.forEach((keyspace, vectors) -> this.seen.put(keyspace, List.copyOf(vectors)));
  }

  /** Returns the keyspaces that the token covers. */
  public Set<String> keyspaces() {
    return Set.copyOf(seen.keySet());
  }

  Map<String, List<VersionVector>> seen() {
    return seen;
  }

  /**
   * Returns the token as a text of letters, digits, '-' and '_', which {@link #decode} reads.
   *
   * @throws OsierException VALUE_TOO_LARGE beyond {@link #BYTES_MAX}; {@link Keyspace#token} makes
   *     smaller tokens, each of one keyspace
   */
  public String encode() {
    byte[] bytes = SeenText.bytes(seen);
    if (bytes.length > BYTES_MAX) {
      throw OsierException.of(
          ErrorCode.VALUE_TOO_LARGE,
          ("the session's past of %s keyspaces takes %s bytes; a token may have %s: take"
                  + " one for each keyspace")
              .formatted(seen.size(), bytes.length, BYTES_MAX));
    }
    return EncodedText.of(bytes);
  }

  /**
   * Reads a token from a text, which need not be trusted.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is no token
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

  /** Returns a description for people; {@link #encode} is for machines. */
  @Override
  public String toString() {
    return "SessionToken" + seen;
  }
}
