package io.osier.protocol;

import io.osier.core.KeyspacePolicy;
import io.osier.core.OsierException;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Encodes as a text what a session has seen of every partition of each keyspace. Static. */
public final class SeenText {
  private static final int KEYSPACE_MAX = 64;

  private SeenText() {}

  /**
   * Returns the record of which {@link EncodedText#of} makes the text; it may be too large to be
   * read.
   */
  public static byte[] bytes(SortedMap<String, List<VersionVector>> seen) {
    return EncodedText.bytes(out -> write(out, seen));
  }

  private static void write(WireOutput out, SortedMap<String, List<VersionVector>> seen) {
    out.writeCount(seen.size());
    seen.forEach(
        (keyspace, vectors) -> {
          out.writeText(keyspace);
          out.writeCount(vectors.size());
          vectors.forEach(out::writeVector);
        });
  }

  /**
   * Reads a text, which may come from anywhere.
   *
   * @param source the call that returns such a text, for the error
   * @throws OsierException INVALID_ARGUMENT if the text is no session token
   */
  public static SortedMap<String, List<VersionVector>> read(String text, String source) {
    return EncodedText.read(text, "session token", source, EncodedText.BYTES_MAX, SeenText::read);
  }

  private static SortedMap<String, List<VersionVector>> read(WireInput in) {
    SortedMap<String, List<VersionVector>> seen = new TreeMap<>();
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
    return seen;
  }
}
