package io.osier.datacenter.store;

import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a store says of itself.
 *
 * @param incarnation the present or last one
 * @param life counts the starts
 * @param clean whether it was closed properly
 * @param durability of the last life
 * @param partitions the numbers of the partitions, by "keyspace/number"
 */
record StoreHeader(
    String cluster,
    String dc,
    long incarnation,
    long life,
    boolean clean,
    Durability durability,
    Map<String, Integer> partitions) {
  private static final byte FORMAT = 1;
  private static final int NAME_MAX = 1_000;

  StoreHeader {
    partitions = new TreeMap<>(partitions);
  }

  StoreHeader closed() {
    return new StoreHeader(cluster, dc, incarnation, life, true, durability, partitions);
  }

  /** As a life with that durability leaves it when it ends without notice. */
  StoreHeader interrupted(Durability durability) {
    return new StoreHeader(cluster, dc, incarnation, life, false, durability, partitions);
  }

  byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeByte(FORMAT);
    out.writeText(cluster);
    out.writeText(dc);
    out.writeNumber(incarnation);
    out.writeNumber(life);
    out.writeBoolean(clean);
    out.writeByte(durability.ordinal());
    out.writeCount(partitions.size());
    partitions.forEach(
        (name, number) -> {
          out.writeText(name);
          out.writeNumber(number);
        });
    return out.toBytes();
  }

  static StoreHeader decode(byte[] bytes) {
    WireInput in = new WireInput(bytes);
    int format = in.readByte();
    if (format != FORMAT) {
      throw new MalformedException(
          "the store has format " + format + "; this version reads format " + FORMAT);
    }
    String cluster = in.readText(NAME_MAX);
    String dc = in.readText(NAME_MAX);
    long incarnation = in.readNumber();
    long life = in.readNumber();
    boolean clean = in.readFlag();
    Durability durability = Durability.values()[in.readByte()];
    int n = in.readCount(2);
    Map<String, Integer> partitions = new TreeMap<>();
    for (int i = 0; i < n; i++) {
      partitions.put(in.readText(NAME_MAX), (int) in.readNumber());
    }
    in.expectEnd();
    return new StoreHeader(cluster, dc, incarnation, life, clean, durability, partitions);
  }
}
