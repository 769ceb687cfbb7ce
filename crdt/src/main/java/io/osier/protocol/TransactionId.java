package io.osier.protocol;

import java.util.UUID;

/**
 * A transaction's identity, drawn at random by the client. By it a datacenter recognizes a step or
 * a commit that is sent again because its answer was lost.
 *
 * @param high the upper half of 128 bits
 * @param low the lower half
 */
public record TransactionId(long high, long low) implements Comparable<TransactionId> {
  /** Orders ids, since clients may choose ids with one hash: a table then needs their order. */
  @Override
  public int compareTo(TransactionId other) {
    int byHigh = Long.compare(high, other.high);
    return byHigh != 0 ? byHigh : Long.compare(low, other.low);
  }

  @Override
  public String toString() {
    return new UUID(high, low).toString();
  }
}
