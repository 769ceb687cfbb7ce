package io.osier.datacenter.store.records;

import static java.util.Objects.requireNonNull;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.store.StoreSettings.Durability;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a store says of itself.
 *
 * @param incarnation the present or last one
 * @param life counts the starts
 * @param clean whether it was closed properly
 * @param durability of the last life
 * @param partitions the numbers of the partitions, by "keyspace/number"
 * @param byTag the keyspaces whose keys are hashed by tag
 */
public record StoreHeader(
    String cluster,
    String dc,
    long incarnation,
    long life,
    boolean clean,
    Durability durability,
    Map<String, Integer> partitions,
    Set<String> byTag) {
  /**
   * Stores of this format have keyspaces that are hashed by tag, and without them they are of the
   * format before. Those of format 8 may have objects and fields of later types ({@link
   * CrdtType#isLater}) and bounded counters that start at another value than 0. Those of format 7
   * say of each partition whether it has caught up. Those of format 6 may have decomposed objects.
   * Those of format 5 say of what is put in place whether it is alone, and which types there are.
   * Those of format 4 may have elements and fields with deadlines, those of format 3 only objects;
   * those of format 2 have objects that are put in place, and earlier ones versions alone.
   */
  private static final byte FORMAT = 9;

  private static final byte FORMAT_MIN = 1;
  private static final String HEADER = "a store's header";
  private static final int NAME_MAX = 1_000;

  public StoreHeader {
    partitions = new TreeMap<>(partitions);
    byTag = new TreeSet<>(byTag);
  }

  /**
   * The header of the life that begins now.
   *
   * @param before what the last life left; empty in a new store
   * @param incarnationMin a new incarnation is at least this
   * @param isSameRun whether the operating system has run on since the last life began
   */
  public static StoreHeader ofNextLife(
      Optional<StoreHeader> before,
      String cluster,
      String dc,
      Durability durability,
      long incarnationMin,
      boolean isSameRun) {
    if (before.isEmpty()) {
      long first = Math.max(incarnationMin, 1);
      return new StoreHeader(cluster, dc, first, 1, false, durability, Map.of(), Set.of());
    }
    StoreHeader b = before.get();
    long incarnation =
        b.keepsIncarnation(isSameRun) ? b.incarnation : Math.max(incarnationMin, b.incarnation + 1);
    return new StoreHeader(
        cluster, dc, incarnation, b.life + 1, false, durability, b.partitions, b.byTag);
  }

  /**
   * Whether the next life goes on with this incarnation. Where the last updates may be lost, their
   * dots must not be given again. What the operating system was given outlives a process, and not
   * the operating system.
   *
   * @param isSameRun whether the operating system has run on since this life began
   */
  public boolean keepsIncarnation(boolean isSameRun) {
    return clean || durability == Durability.SYNC || (durability == Durability.ASYNC && isSameRun);
  }

  /**
   * Checks whose store it is.
   *
   * @throws OsierException CONFIGURATION if it is another datacenter's
   */
  public void checkBelongsTo(Path dir, String cluster, String dc) {
    if (!this.cluster.equals(cluster) || !this.dc.equals(dc)) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: %s holds the data of '%s' in cluster '%s', not of '%s' in '%s'"
              .formatted(dir, this.dc, this.cluster, dc, cluster));
    }
  }

  private static String nameOf(String keyspace, int partition) {
    return keyspace + "/" + partition;
  }

  /** What the partition of a number is called, in words. */
  public String nameOf(int number) {
    String name = partitionOf(number);
    return name.isEmpty() ? "no partition" : "partition " + name;
  }

  /** The keyspace of the partition of a number; empty if there is none. */
  public String keyspaceOf(int number) {
    String name = partitionOf(number);
    return name.isEmpty() ? "" : name.substring(0, name.lastIndexOf('/'));
  }

  private String partitionOf(int number) {
    return partitions.entrySet().stream()
        .filter(p -> p.getValue() == number)
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse("");
  }

  public int numberOf(String keyspace, int partition) {
    return requireNonNull(partitions.get(nameOf(keyspace, partition)), "no such partition");
  }

  public int partitionsOf(String keyspace) {
    int count = 0;
    while (partitions.containsKey(nameOf(keyspace, count))) {
      count++;
    }
    return count;
  }

  /**
   * The header with all partitions of a keyspace, which may be in it already.
   *
   * @param now which the keyspace has now
   * @param used whether anything was written of those that are in it: then they stay, because they
   *     say which keys a partition has. A first start may have ended before all were noted
   * @param taken numbers that must not be given, beside those that are
   * @throws OsierException CONFIGURATION if the store has others
   */
  public StoreHeader withPartitions(
      Path dir, String keyspace, Partitioning now, boolean used, Set<Integer> taken) {
    int count = now.count();
    int stored = partitionsOf(keyspace);
    if (used && byTag.contains(keyspace) != now.isByTag()) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces.%s.hash: in the store in %s it is %s, which cannot become %s"
              .formatted(
                  keyspace, dir, now.isByTag() ? "key" : "tag", now.isByTag() ? "tag" : "key"));
    }
    Set<String> tags = new TreeSet<>(byTag);
    tags.remove(keyspace);
    if (now.isByTag()) {
      tags.add(keyspace);
    }
    if (stored == count) {
      return with(partitions, tags);
    }
    if (stored > count || used) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces.%s.partitions: the store in %s has %d, which cannot become %d"
              .formatted(keyspace, dir, stored, count));
    }
    if (partitions.size() + count - stored > RecordKeys.PARTITIONS_MAX) {
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.keyspaces.%s.partitions: a store has room for %d partitions, and this one has %d"
              .formatted(keyspace, RecordKeys.PARTITIONS_MAX, partitions.size()));
    }
    Map<String, Integer> all = new TreeMap<>(partitions);
    Set<Integer> numbers = new TreeSet<>(all.values());
    numbers.addAll(taken);
    int next = 0;
    for (int i = stored; i < count; i++) {
      while (!numbers.add(next)) {
        next++;
      }
      all.put(nameOf(keyspace, i), next);
    }
    return with(all, tags);
  }

  private StoreHeader with(Map<String, Integer> partitions, Set<String> byTag) {
    return new StoreHeader(cluster, dc, incarnation, life, clean, durability, partitions, byTag);
  }

  /** The header without a keyspace's partitions, whose records are gone. */
  public StoreHeader without(String keyspace) {
    Map<String, Integer> others = new TreeMap<>(partitions);
    for (int i = 0; i < partitionsOf(keyspace); i++) {
      others.remove(nameOf(keyspace, i));
    }
    Set<String> tags = new TreeSet<>(byTag);
    tags.remove(keyspace);
    return with(others, tags);
  }

  /** The keyspaces that are in it. */
  public Set<String> keyspaces() {
    Set<String> names = new TreeSet<>();
    partitions.keySet().forEach(name -> names.add(name.substring(0, name.lastIndexOf('/'))));
    return names;
  }

  /** As a life leaves it that ends properly. */
  public StoreHeader closed() {
    return new StoreHeader(cluster, dc, incarnation, life, true, durability, partitions, byTag);
  }

  /** As a life with that durability leaves it when it ends without notice. */
  public StoreHeader interrupted(Durability durability) {
    return new StoreHeader(cluster, dc, incarnation, life, false, durability, partitions, byTag);
  }

  public byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeByte(byTag.isEmpty() ? FORMAT - 1 : FORMAT);
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
    if (!byTag.isEmpty()) {
      out.writeCount(byTag.size());
      byTag.forEach(out::writeText);
    }
    return out.toBytes();
  }

  /**
   * Reads a header.
   *
   * @throws OsierException CONFIGURATION if a later version wrote it
   */
  public static StoreHeader decode(byte[] bytes) {
    WireInput in = new WireInput(bytes);
    int format = Codec.decode(HEADER, () -> in.readByte());
    if (format > FORMAT) {
      // No damage, which one might try to mend.
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          "osier.store.dir: a later version has written the store, in format %d; this version reads formats %d to %d"
              .formatted(format, FORMAT_MIN, FORMAT));
    }
    if (format < FORMAT_MIN) {
      throw new MalformedException("format " + format + " of a store is unknown");
    }
    return Codec.readAll(in, HEADER, i -> read(i, format));
  }

  private static StoreHeader read(WireInput in, int format) {
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
    Set<String> byTag = new TreeSet<>();
    for (int i = format < FORMAT ? 0 : in.readCount(1); i > 0; i--) {
      byTag.add(in.readText(NAME_MAX));
    }
    return new StoreHeader(cluster, dc, incarnation, life, clean, durability, partitions, byTag);
  }
}
