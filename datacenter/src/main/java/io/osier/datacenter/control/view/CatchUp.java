package io.osier.datacenter.control.view;

import java.util.Locale;
import java.util.OptionalLong;

/**
 * The progress of a joining datacenter.
 *
 * @param complete how many of its partitions have the data of their peers
 * @param partitions how many partitions it has
 * @param objects how many objects it holds; of a causal keyspace only visible ones, so none until
 *     all have come
 * @param objectsThere how many objects others say they hold of its keyspaces: of each keyspace the
 *     largest count; empty if nobody has said
 * @param bytes how many bytes have come from the others since its start
 * @param objectsPerSecond how many objects came lately
 * @param bytesPerSecond how many bytes came lately
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
   * Returns how long it takes to get the missing objects at the latest rate, in seconds; empty if
   * that is not known.
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
            .append(" partitions have caught up with the others; ")
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
