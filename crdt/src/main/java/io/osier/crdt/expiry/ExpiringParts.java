package io.osier.crdt.expiry;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.DotStore;
import io.osier.crdt.JoinContext;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.UpdateContext;
import io.osier.crdt.expiry.DeadlineOrder.Due;
import io.osier.crdt.tree.TreeEntry;
import io.osier.crdt.types.EntryEditor;
import io.osier.crdt.types.EntryStore;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** An object's content together with the deadlines of its parts. Immutable; for any thread. */
public record ExpiringParts<K extends Comparable<K>>(
    EntryStore<?, K, ?> content, PartDeadlines<K> deadlines) {
  /** If at least this share of an object's parts is over, the rest is built anew. */
  private static final int MANY_OVER_SHARE = 4;

  private static final int MANY_OVER_MIN = 1_000;

  /**
   * Returns the parts of an object.
   *
   * @throws OsierException WRONG_TYPE if objects of this type have no parts
   */
  public static ExpiringParts<?> of(DotStore<?> content, PartDeadlines<?> deadlines) {
    if (content instanceof EntryStore<?, ?, ?> cells) {
      return with(cells, deadlines);
    }
    throw OsierException.of(
        ErrorCode.WRONG_TYPE, "a " + content.type() + " has neither elements nor fields");
  }

  @SuppressWarnings("unchecked") // deadlines are kept by the keys of their content
  private static <K extends Comparable<K>> ExpiringParts<K> with(
      EntryStore<?, K, ?> content, PartDeadlines<?> deadlines) {
    return new ExpiringParts<>(content, (PartDeadlines<K>) deadlines);
  }

  // ---------------------------------------------------------------- what a reader sees

  /**
   * Returns a part's latest deadline; {@link DeadlineRegister#NEVER} if it has none or does not
   * exist.
   */
  public long deadline(Part part) {
    return seen(content.keys(part)).stream()
        .mapToLong(deadlines::deadline)
        .max()
        .orElse(DeadlineRegister.NEVER);
  }

  private List<K> seen(List<K> keys) {
    return keys.stream().filter(content::isSeen).toList();
  }

  /** Returns this without the parts that are over. */
  public ExpiringParts<K> at(long millis) {
    int many = Math.max(MANY_OVER_MIN, content.entryCount() / MANY_OVER_SHARE);
    List<K> over = deadlines.over(millis, many);
    if (over.size() == many && content.behind() == null) {
      return remaining(content, deadlines, millis);
    }
    over = over.size() == many ? deadlines.over(millis, Integer.MAX_VALUE) : over;
    return with(asCells(content.without(over)), deadlines.without(over, content));
  }

  /**
   * Returns what a reader sees after a delta, if this is what it saw before.
   *
   * @param whole all parts with the delta, whether or not they are over
   * @param millis the time at which this is without parts that are over
   */
  public ExpiringParts<K> after(
      DotStore<?> delta, PartDeadlines<?> deltaDeadlines, ExpiringParts<?> whole, long millis) {
    Set<K> changed = new TreeSet<>(); // clients choose the keys, and may choose keys with one hash
    asCells(delta).inMemory().forEach(entry -> changed.add(entry.key()));
    with(content, deltaDeadlines).deadlines.parts().forEach(changed::add);
    ExpiringParts<K> all = with(asCells(whole.content), whole.deadlines);
    List<K> over = new ArrayList<>();
    List<K> left = new ArrayList<>();
    for (K key : changed) {
      (all.deadlines.isOver(key, all.content, millis) ? over : left).add(key);
    }
    return with(
        asCells(content.with(all.content, left, over)), deadlines.with(all, left, over, content));
  }

  /** As {@link #at}, by a walk over all parts. */
  private static <S extends EntryStore<S, K, V>, K extends Comparable<K>, V>
      ExpiringParts<K> remaining(
          EntryStore<S, K, V> content, PartDeadlines<K> deadlines, long millis) {
    EntryEditor<S, K, V> left = content.delta();
    DeadlineEditor<K> mortal = new DeadlineEditor<>(PartDeadlines.none(), content);
    List<Due<K>> dues = new ArrayList<>();
    Iterator<TreeEntry<K, DeadlineRegister>> all = deadlines.cells.iterator();
    TreeEntry<K, DeadlineRegister> next = all.hasNext() ? all.next() : null;
    for (TreeEntry<K, V> entry : content.cells()) {
      K key = entry.key();
      while (next != null && next.key().compareTo(key) < 0) { // over, as the part does not exist
        next = all.hasNext() ? all.next() : null;
      }
      DeadlineRegister until = next != null && next.key().compareTo(key) == 0 ? next.cell() : null;
      if (until == null || until.isNone()) {
        left.put(key, entry.cell());
      } else if (content.isVisible(entry.cell()) && until.latest() > millis) {
        left.put(key, entry.cell());
        mortal.put(key, until);
        if (until.latest() != DeadlineRegister.NEVER) {
          dues.add(new Due<>(until.latest(), key));
        }
      }
    }
    return new ExpiringParts<>(left.done(), mortal.done(DeadlineOrder.of(dues, content)));
  }

  @SuppressWarnings("unchecked") // a content's changes have its keys
  private EntryStore<?, K, ?> asCells(DotStore<?> changed) {
    return (EntryStore<?, K, ?>) changed;
  }

  // ---------------------------------------------------------------- updates

  public PartDeadlines<K> expire(List<Part> parts, long millis, UpdateContext preparation) {
    return deadlines.replaced(seen(keys(parts)), millis, content, preparation);
  }

  /** Prepares a new deadline for the parts that an update has changed, as far as they exist. */
  public PartDeadlines<K> expireTouched(Operation update, long millis, UpdateContext preparation) {
    return deadlines.replaced(seen(content.touched(update)), millis, content, preparation);
  }

  /** Prepares that those of some parts that have a deadline never expire. */
  public PartDeadlines<K> persist(List<Part> parts, UpdateContext preparation) {
    List<K> mortal =
        seen(keys(parts)).stream()
            .filter(key -> deadlines.deadline(key) != DeadlineRegister.NEVER)
            .toList();
    return deadlines.replaced(mortal, DeadlineRegister.NEVER, content, preparation);
  }

  private List<K> keys(List<Part> parts) {
    return parts.stream().flatMap(part -> content.keys(part).stream()).toList();
  }

  public PartDeadlines<K> endAll(UpdateContext preparation) {
    return deadlines.ended(deadlines.parts(), content, preparation);
  }

  /**
   * Prepares the removal of the deadlines of parts that an update leaves empty.
   *
   * @param after the content with the update
   */
  public PartDeadlines<K> endRemoved(
      Operation update, DotStore<?> after, UpdateContext preparation) {
    EntryStore<?, K, ?> left = asCells(after);
    List<K> removed = content.touched(update).stream().filter(key -> !left.isSeen(key)).toList();
    return deadlines.ended(removed, content, preparation);
  }

  public final class Removal {
    private final List<K> keys;

    private Removal(List<K> keys) {
      this.keys = keys;
    }

    public boolean isEmpty() {
      return keys.isEmpty();
    }

    /** Prepares the delta of the content. */
    public DotStore<?> content(UpdateContext preparation) {
      return content.reset(keys, preparation);
    }

    public PartDeadlines<?> deadlines(UpdateContext preparation) {
      return deadlines.ended(keys, content, preparation);
    }
  }

  /** Returns the removal of the first parts that are over. */
  public Removal over(long millis, int limit) {
    return new Removal(deadlines.over(millis, limit));
  }

  public Removal overAndTouched(List<Operation> operations, long millis) {
    return new Removal(
        operations.stream()
            .flatMap(operation -> touched(operation).stream())
            .filter(key -> deadlines.isOver(key, content, millis))
            .toList());
  }

  private List<K> touched(Operation operation) {
    return switch (operation) {
      case Operation.WithDeadline o -> touched(o.update());
      case Operation.WithPartDeadlines o -> touched(o.update());
      case Operation.ExpireParts o -> keys(o.of());
      case Operation.PersistParts o -> keys(o.of());
      default -> content.touched(operation);
    };
  }

  // ---------------------------------------------------------------- joins and bytes

  /** See {@link Expiry#join}. */
  static <K extends Comparable<K>> PartDeadlines<K> join(
      ExpiringParts<K> mine,
      DotStore<?> theirs,
      PartDeadlines<?> theirDeadlines,
      DotStore<?> joined,
      JoinContext joining) {
    ExpiringParts<K> other = with(mine.asCells(theirs), theirDeadlines);
    return PartDeadlines.join(mine, other, mine.asCells(joined), joining);
  }

  void write(WireOutput out) {
    deadlines.write(out, content);
  }

  PartDeadlines<K> packLeaves(List<ReplicaId> replicas) {
    return deadlines.packLeaves(content, replicas);
  }
}
