package io.osier.core;

/**
 * Maps a keyspace's keys to its partitions. The mapping is stable for every key that exists, since
 * it decides where data lives; everything that needs a key's partition uses this record.
 *
 * @param count the number of partitions, 1 to {@link KeyspacePolicy#PARTITIONS_MAX}
 * @param hash which part of a key is hashed; with one partition always {@link Hash#KEY}
 * @param homes the homes of the keyspace, or of the keyspace whose home it is
 */
public record Partitioning(int count, Hash hash, Homes homes) {
  /** Which part of a key is hashed. */
  public enum Hash {
    /** The whole key. */
    KEY,
    /**
     * The key's tag: the text between its first <code>{</code> and the first <code>}</code> behind
     * that, as in Redis Cluster. The whole key if there is nothing between them, or one of them is
     * missing.
     */
    TAG
  }

  public Partitioning {
    if (count < 1 || count > KeyspacePolicy.PARTITIONS_MAX) {
      throw new IllegalArgumentException(
          "partitions must be 1 to " + KeyspacePolicy.PARTITIONS_MAX + ", not " + count);
    }
    hash = count == 1 ? Hash.KEY : hash; // with one partition it makes no difference
  }

  /** Creates the partitioning of a keyspace without homes. */
  public Partitioning(int count, Hash hash) {
    this(count, hash, Homes.NONE);
  }

  /** Returns this many partitions, by the whole key. */
  public static Partitioning byKey(int count) {
    return new Partitioning(count, Hash.KEY);
  }

  /** Returns this partitioning with other homes. */
  public Partitioning with(Homes other) {
    return new Partitioning(count, hash, other);
  }

  /** Returns whether this is the former partitioning, perhaps with homes that were added since. */
  public boolean hasGrownFrom(Partitioning former) {
    return count == former.count && hash == former.hash && homes.hasGrownFrom(former.homes);
  }

  /** Whether keys with one tag are in one partition. */
  public boolean isByTag() {
    return hash == Hash.TAG;
  }

  /** Returns the partition of a key: 0 to {@link #count} − 1. */
  public int of(Key key) {
    return key.partition(count, isByTag());
  }

  /** Returns a text for errors. */
  @Override
  public String toString() {
    return count
        + (isByTag() ? " partitions by tag" : " partitions")
        + (homes.isEmpty() ? "" : " in each of the homes " + homes);
  }
}
