package io.osier.datacenter.store.records;

import io.osier.crdt.ObjectId;

/**
 * An object together with its partition of the database.
 *
 * @param partition the keys of the partition's records, of which there is one instance
 */
public record PartitionObject(RecordKeys partition, ObjectId object)
    implements Comparable<PartitionObject> {
  /**
   * An order, since clients may choose keys that have one hash: a hash table then compares them.
   */
  @Override
  public int compareTo(PartitionObject other) {
    int byPartition = Integer.compare(partition.partition(), other.partition.partition());
    return byPartition != 0 ? byPartition : object.compareTo(other.object);
  }
}
