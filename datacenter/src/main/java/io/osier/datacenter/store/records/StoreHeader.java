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
 * A store's record of itself: whose it is, its incarnation, and its partitions.
 *
 * @param incarnation the present or last incarnation
 * @param life counts the starts
 * @param clean whether the store was closed properly
 * @param durability that of the last start
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
   * The format of a store that has keyspaces whose keys are hashed by tag. A store is written in it
   * or in {@link #FORMAT_WITHOUT_TAGS}, and read in all formats from 1 on. What each format added:
   *
   * <ul>
   *   <li>2: objects in place; before there were only versions
   *   <li>3: objects with deadlines
   *   <li>4: elements and fields with deadlines
   *   <li>5: a state in place says whether it is alone; the store says which types there are
   *   <li>6: decomposed objects
   *   <li>7: the store says of each partition whether it has caught up
   *   <li>8: later types ({@link CrdtType#isLater}) of objects and fields; bounded counters that
   *       start at another value than 0
   *   <li>9: the keyspaces that are hashed by tag, at the header's end
   * </ul>
   */
  private static final byte FORMAT_WITH_TAGS = 9;

  /** The format of all other stores, which earlier versions can read. */
  private static final byte FORMAT_WITHOUT_TAGS = 8;

  private static final byte FORMAT_MIN = 1;
  private static final String HEADER = "a store's header";
  private static final int NAME_MAX = 1_000;

  public StoreHeader {
    partitions = new TreeMap<>(partitions);
    byTag = new TreeSet<>(byTag);
  }

  /**
   * Returns the header of the start that begins now.
   *
   * @param before the header that the last start left; empty in a new store
   * @param incarnationMin the least number of a new incarnation
   * @param isSameRun whether the operating system has not been restarted since the last start
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
   * Returns whether the next start goes on with this incarnation. If the last updates may be lost,
   * it must not, since their dots must not be given again. Data handed to the operating system
   * outlives the process, but not the operating system.
   *
   * @param isSameRun whether the operating system has not been restarted since this start
   */
  public boolean keepsIncarnation(boolean isSameRun) {
    return clean || durability == Durability.SYNC || (durability == Durability.ASYNC && isSameRun);
  }

  /**
   * Checks that the store belongs to this datacenter.
   *
   * @throws OsierException CONFIGURATION if it belongs to another one
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

  /** Returns the name of a partition by its number, in words. */
  public String nameOf(int number) {
    String name = partitionOf(number);
    return name.isEmpty() ? "no partition" : "partition " + name;
  }

  /** Returns the keyspace of a partition by its number; empty if there is none. */
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
   * Returns the header with all partitions of a keyspace, which may be in it already.
   *
   * @param now the keyspace's present partitioning
   * @param used whether anything was written in those that are in it: then they stay, because they
   *     determine which keys a partition has. (A first start may have ended before all were noted.)
   * @param taken numbers that must not be given, besides those in use
   * @throws OsierException CONFIGURATION if the store has other partitions of the keyspace
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

  /** Returns the header without a keyspace's partitions, whose records are deleted. */
  public StoreHeader without(String keyspace) {
    Map<String, Integer> others = new TreeMap<>(partitions);
    for (int i = 0; i < partitionsOf(keyspace); i++) {
      others.remove(nameOf(keyspace, i));
    }
    Set<String> tags = new TreeSet<>(byTag);
    tags.remove(keyspace);
    return with(others, tags);
  }

  /** Returns the keyspaces in the header. */
  public Set<String> keyspaces() {
    Set<String> names = new TreeSet<>();
    partitions.keySet().forEach(name -> names.add(name.substring(0, name.lastIndexOf('/'))));
    return names;
  }

  /** Returns the header that a proper close leaves. */
  public StoreHeader closed() {
    return new StoreHeader(cluster, dc, incarnation, life, true, durability, partitions, byTag);
  }

  /**
   * Returns the header that a start with this durability leaves if its process ends without a
   * close.
   */
  public StoreHeader interrupted(Durability durability) {
    return new StoreHeader(cluster, dc, incarnation, life, false, durability, partitions, byTag);
  }

  public byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeByte(byTag.isEmpty() ? FORMAT_WITHOUT_TAGS : FORMAT_WITH_TAGS);
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
   * Decodes a header.
   *
   * @throws OsierException CONFIGURATION if a later version wrote it
   */
  public static StoreHeader decode(byte[] bytes) {
    WireInput in = new WireInput(bytes);
    int format = Codec.decode(HEADER, () -> in.readByte());
    if (format > FORMAT_WITH_TAGS) {
      // Not reported as damage, which somebody might try to mend.
      throw new OsierException(
          ErrorCode.CONFIGURATION,
          ("osier.store.dir: a later version has written the store, in format %d; this"
                  + " version reads formats %d to %d")
              .formatted(format, FORMAT_MIN, FORMAT_WITH_TAGS));
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
    for (int i = format < FORMAT_WITH_TAGS ? 0 : in.readCount(1); i > 0; i--) {
      byTag.add(in.readText(NAME_MAX));
    }
    return new StoreHeader(cluster, dc, incarnation, life, clean, durability, partitions, byTag);
  }
}
