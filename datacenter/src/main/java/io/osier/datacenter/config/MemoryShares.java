package io.osier.datacenter.config;

import io.osier.propagation.host.StreamSettings;

/**
 * The bytes of the heap for each purpose, for all partitions together: each has an equal part, so
 * that none lives at another's cost. docs/OPERATIONS.md says what happens when one is spent.
 *
 * @param commands commands that wait or are not answered yet
 * @param trails own updates that some datacenter may not have
 * @param relays others' updates that some datacenter may not have
 * @param waiting others' updates that wait for what must come before them
 * @param history former values, of causal keyspaces
 * @param transactions open transactions
 * @param ended how transactions ended
 * @param changes the latest changes, for watchers, while there are any
 */
public record MemoryShares(
    long commands,
    long trails,
    long relays,
    long waiting,
    long history,
    long transactions,
    long ended,
    long changes) {

  /** Returns one partition's part for its streams, among this many partitions. */
  public StreamSettings.Memory streams(int partitions) {
    return new StreamSettings.Memory(
        trails / partitions, relays / partitions, waiting / partitions);
  }

  long sum() {
    return commands + trails + relays + waiting + history + transactions + ended + changes;
  }
}
