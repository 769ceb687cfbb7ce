package io.osier.datacenter.store.records;

import io.osier.crdt.ObjectId;

/**
 * An object of one of a database's partitions.
 *
 * @param partition the keys of the partition's records, of which there is one instance
 */
public record PartitionObject(RecordKeys partition, ObjectId object)
    implements Comparable<PartitionObject> {
  /** Clients may choose keys that have one hash: a table then needs their order. */
  @Override
  public int compareTo(PartitionObject other) {
    int byPartition = Integer.compare(partition.partition(), other.partition.partition());
    return byPartition != 0 ? byPartition : object.compareTo(other.object);
  }
}
