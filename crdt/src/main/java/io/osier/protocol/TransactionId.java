package io.osier.protocol;

import java.util.UUID;

/**
 * A transaction's identity, drawn at random by the client: by it a datacenter knows a step or a
 * commit that was sent again because its answer was lost.
 *
 * @param high the upper half of 128 bits
 * @param low the lower half
 */
public record TransactionId(long high, long low) {
  @Override
  public String toString() {
    return new UUID(high, low).toString();
  }
}
