package io.osier.proxy;

import io.osier.core.ErrorCode;
import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
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
  public static final int BYTES_MAX = 64 << 10;

  private static final int KEYSPACE_MAX = 64;

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
    byte[] bytes = EncodedText.bytes(this::write);
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

  private void write(WireOutput out) {
    out.writeCount(seen.size());
    seen.forEach(
        (keyspace, vectors) -> {
          out.writeText(keyspace);
          out.writeCount(vectors.size());
          vectors.forEach(out::writeVector);
        });
  }

  /**
   * Reads a token, which may come from anywhere.
   *
   * @throws OsierException INVALID_ARGUMENT if the text is none
   */
  public static SessionToken decode(String text) {
    return EncodedText.read(
        text, BYTES_MAX, "session token", "SessionToken.encode", SessionToken::read);
  }

  private static SessionToken read(WireInput in) {
    Map<String, List<VersionVector>> seen = new TreeMap<>();
    for (int i = in.readCount(3); i > 0; i--) {
      String keyspace = in.readText(KEYSPACE_MAX);
      int partitions = in.readCount(1);
      if (keyspace.isEmpty() || partitions < 1 || partitions > KeyspacePolicy.PARTITIONS_MAX) {
        throw new MalformedException(
            "keyspace '" + keyspace + "' of " + partitions + " partitions");
      }
      List<VersionVector> vectors = new ArrayList<>(partitions);
      for (int p = 0; p < partitions; p++) {
        vectors.add(in.readVector());
      }
      if (seen.put(keyspace, vectors) != null) {
        throw new MalformedException("keyspace '" + keyspace + "' twice");
      }
    }
    return new SessionToken(seen);
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
