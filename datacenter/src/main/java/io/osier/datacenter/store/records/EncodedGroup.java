package io.osier.datacenter.store.records;

import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Change;
import java.util.ArrayList;
import java.util.List;

/**
 * A group of changes as records of RocksDB, ready to be written. Encoding needs nothing of the
 * database but its numbers of replicas, so any thread can do it. Immutable.
 */
public final class EncodedGroup {
  /** What a record takes in memory besides its bytes, roughly. */
  private static final int RECORD_BYTES = 80;

  public sealed interface Step {}

  /** Puts a version of an object, or its state in place. */
  public record PutVersion(ObjectId object, byte[] key, byte[] value) implements Step {}

  public record Put(byte[] key, byte[] value) implements Step {}

  public record Delete(byte[] key) implements Step {}

  /** Deletes the records from one key, inclusive, to another, exclusive. */
  public record DeleteRange(byte[] from, byte[] to) implements Step {}

  /**
   * Puts all entries of a decomposed object: they are encoded one by one while they are written.
   */
  public record PutEntries(ObjectId object, CrdtState state, List<ReplicaId> replicas)
      implements Step {}

  /** Deletes the versions of an object that were written before. */
  public record DropVersions(ObjectId object) implements Step {}

  /** Notes that once the group is written, some versions of the object are no longer needed. */
  public record Prunable(ObjectId object) implements Step {}

  private final RecordKeys keys;
  private final List<Step> steps;
  private final long bytes;
  private final boolean drops;

  private EncodedGroup(RecordKeys keys, List<Step> steps) {
    this.keys = keys;
    this.steps = steps;
    long sum = 0;
    for (Step step : steps) {
      sum += RECORD_BYTES + bytesOf(step);
    }
    this.bytes = sum;
    this.drops = steps.stream().anyMatch(s -> s instanceof DropVersions);
  }

  private static long bytesOf(Step step) {
    return switch (step) {
      case PutVersion p -> p.key.length + p.value.length;
      case Put p -> p.key.length + p.value.length;
      case Delete d -> d.key.length;
      case DeleteRange d -> d.from.length + d.to.length;
      case PutEntries p -> p.state.sizeBytes();
      case DropVersions d -> d.object.key().length();
      case Prunable p -> p.object.key().length();
    };
  }

  public static EncodedGroup of(
      List<Change> changes, RecordKeys keys, RecordKeys.Dictionary dictionary) {
    List<Step> steps = new ArrayList<>(changes.size());
    for (Change change : changes) {
      if (change instanceof Change.PutDecomposed p) {
        add(steps, p, keys, dictionary);
      } else {
        steps.add(step(change, keys, dictionary));
      }
    }
    return new EncodedGroup(keys, steps);
  }

  private static void add(
      List<Step> steps,
      Change.PutDecomposed put,
      RecordKeys keys,
      RecordKeys.Dictionary dictionary) {
    ObjectId object = put.object();
    // This gives the context's replicas their numbers.
    byte[] head = RecordValues.head(put.state(), put.isAlone(), dictionary);
    steps.add(new PutVersion(object, keys.inPlace(object), head));
    byte[] begin = keys.entriesBegin(object);
    List<ReplicaId> replicas = dictionary.numbered();
    boolean given =
        put.giveChanged(
            replicas,
            (key, cell) -> {
              byte[] entry = RecordKeys.entry(begin, key);
              steps.add(cell == null ? new Delete(entry) : new Put(entry, cell));
            });
    if (!given) {
      steps.add(new DeleteRange(begin, keys.entriesEnd(object)));
      steps.add(new PutEntries(object, put.state(), replicas));
    }
  }

  private static Step step(Change change, RecordKeys keys, RecordKeys.Dictionary dictionary) {
    return switch (change) {
      case Change.PutOperation p ->
          new PutVersion(
              p.object(),
              keys.version(p.object(), p.at(), false, dictionary),
              RecordValues.version(p.delta(), p.at()));
      case Change.PutSnapshot p ->
          new PutVersion(
              p.object(),
              keys.version(p.object(), p.at(), true, dictionary),
              RecordValues.version(p.state(), p.at()));
      case Change.PutInPlace p ->
          new PutVersion(
              p.object(),
              keys.inPlace(p.object()),
              RecordValues.inPlace(p.state(), p.isAlone(), dictionary));
      case Change.PutDecomposed p -> throw new IllegalArgumentException("is more than one step");
      case Change.DropEntries d ->
          new DeleteRange(keys.entriesBegin(d.object()), keys.entriesEnd(d.object()));
      case Change.PutTypes p -> new Put(keys.types(), RecordValues.types(p.types()));
      case Change.PutLogged p -> new Put(keys.logged(p.number()), RecordValues.logged(p.object()));
      case Change.PutTransaction p ->
          new Put(keys.transaction(p.number()), RecordValues.transaction(p.transaction()));
      case Change.DropTransactions d ->
          new DeleteRange(keys.transaction(d.after() + 1), keys.transaction(d.through() + 1));
      case Change.PutRemoved p -> new Put(keys.removed(p.object()), new byte[0]);
      case Change.DropRemoved d -> new Delete(keys.removed(d.object()));
      case Change.PutDeadline p -> new Put(keys.deadline(p.deadline()), new byte[0]);
      case Change.DropDeadline d -> new Delete(keys.deadline(d.deadline()));
      case Change.PutState p -> new Put(keys.state(), p.state().encode());
      case Change.DropLogged d ->
          new DeleteRange(keys.firstLogged(d.after()), keys.firstLogged(d.through()));
      case Change.DropObject d -> new DropVersions(d.object());
      case Change.Prune p -> new Prunable(p.object());
    };
  }

  /** Returns whether the group deletes versions of objects. */
  public boolean drops() {
    return drops;
  }

  public RecordKeys keys() {
    return keys;
  }

  public List<Step> steps() {
    return steps;
  }

  /** Returns about how many bytes the group takes in memory. */
  public long bytes() {
    return bytes;
  }

  /** Returns whether there is nothing to write. */
  public boolean isEmpty() {
    return steps.isEmpty();
  }
}
