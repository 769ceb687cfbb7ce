package io.osier.core;

/**
 * Which of a keyspace's partitions a key belongs to: stable for ever, since it decides where data
 * lives. Whoever asks for a key's partition asks this.
 *
 * @param count the number of partitions, 1 to {@link KeyspacePolicy#PARTITIONS_MAX}
 * @param hash what of a key is hashed; with one partition always {@link Hash#KEY}
 * @param homes of a keyspace that has some, and of each of them: which keys are there at all
 */
public record Partitioning(int count, Hash hash, Homes homes) {
  /** What of a key is hashed. */
  public enum Hash {
    /** All of it. */
    KEY,
    /**
     * Its tag: what is between its first <code>{</code> and the first <code>}</code> behind that,
     * as in Redis Cluster; all of it if there is nothing between them, or one of them is missing.
     */
    TAG
  }

  public Partitioning {
    if (count < 1 || count > KeyspacePolicy.PARTITIONS_MAX) {
      throw new IllegalArgumentException(
          "partitions must be 1 to " + KeyspacePolicy.PARTITIONS_MAX + ", not " + count);
    }
    hash = count == 1 ? Hash.KEY : hash; // whatever is hashed, all keys are there
  }

  /** Of a keyspace without homes. */
  public Partitioning(int count, Hash hash) {
    this(count, hash, Homes.NONE);
  }

  /** So many partitions, by all of the key. */
  public static Partitioning byKey(int count) {
    return new Partitioning(count, Hash.KEY);
  }

  /** Whether keys with one tag are in one partition. */
  public boolean isByTag() {
    return hash == Hash.TAG;
  }

  /** The partition of a key: 0 to {@link #count} − 1. */
  public int of(Key key) {
    return key.partition(count, isByTag());
  }

  /** As an error tells of it. */
  @Override
  public String toString() {
    return count
        + (isByTag() ? " partitions by tag" : " partitions")
        + (homes.isEmpty() ? "" : " in each of the homes " + homes);
  }
}
