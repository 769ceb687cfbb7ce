package io.osier.datacenter.control;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * How far a datacenter is that joins.
 *
 * @param complete so many of its partitions have what the others have
 * @param partitions so many it has
 * @param objects that it holds; of a causal keyspace those that are visible, which are none until
 *     all of them have come
 * @param objectsThere that the others hold of its keyspaces, as they say: of each keyspace what the
 *     one holds that has most of it; empty if nobody has said
 * @param bytes that have come from the others since its start
 * @param objectsPerSecond lately
 * @param bytesPerSecond lately
 */
public record CatchUp(
    int complete,
    int partitions,
    long objects,
    OptionalLong objectsThere,
    long bytes,
    double objectsPerSecond,
    double bytesPerSecond) {

  /**
   * How long it takes to get the objects that the others have more, as fast as objects came lately;
   * empty if that is not known.
   */
  public OptionalLong secondsLeft() {
    long missing = objectsThere.orElse(0) - objects;
    return missing <= 0 || objectsPerSecond <= 0
        ? OptionalLong.empty()
        : OptionalLong.of((long) Math.ceil(missing / objectsPerSecond));
  }

  public String words() {
    StringBuilder words =
        new StringBuilder()
            .append(complete)
            .append(" of ")
            .append(partitions)
            .append(" partitions have what the others have; ")
            .append(objects);
    objectsThere.ifPresent(there -> words.append(" of ").append(Math.max(there, objects)));
    words
        .append(" objects and ")
        .append(mebibytes((double) bytes))
        .append(" have come, ")
        .append(mebibytes(bytesPerSecond))
        .append("/s");
    secondsLeft().ifPresent(s -> words.append("; about ").append(s).append(" s left"));
    return words.toString();
  }

  private static String mebibytes(double bytes) {
    return String.format(Locale.ROOT, "%.1f MiB", bytes / (1 << 20));
  }
}
