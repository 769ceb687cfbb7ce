package io.osier.datacenter.partition.machine;

import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.Journal;
import io.osier.datacenter.store.PartitionProgress;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.Reply;
import io.osier.protocol.TransactionId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Machine} wants done after a batch of inputs: plain data, which can be written down
 * and read back, but for a {@link LongAnswer}. The shell carries it out in this order:
 *
 * <ol>
 *   <li>{@link #atOnce} may leave whenever it likes.
 *   <li>{@link #records} and {@link #progress} are made durable, as one group, after those of all
 *       earlier effects. When they are, others may see the objects as the records show them.
 *   <li>{@link #whenDurable} leaves after that, and not before (invariant I5), in its order.
 * </ol>
 *
 * <p>The lists belong to whoever took the effects, and are not to be changed.
 *
 * @param records what was done, in its order; empty where nobody keeps it
 * @param progress how far the partition has come, if that is to be stored with the records
 */
public record Effects(
    List<Recorded> records,
    Optional<PartitionProgress> progress,
    List<Output> whenDurable,
    List<Report> atOnce) {
  /** Nothing is to be done. */
  public static final Effects NONE = new Effects(List.of(), Optional.empty(), List.of(), List.of());

  /** Something that was done, and is to be remembered. */
  public sealed interface Recorded {}

  /**
   * An update was applied, a local or a remote one.
   *
   * @param state the object with it: the version that becomes visible
   */
  public record Applied(Shipment update, CrdtState state) implements Recorded {}

  /**
   * A transaction was committed: its updates are among those applied before. Remembered so that its
   * commit is known if it is sent again.
   *
   * @param number the last commit number of it
   */
  public record Committed(TransactionId transaction, long number) implements Recorded {}

  /** An object that only remembered its removal was dropped. */
  public record Forgotten(ObjectId object) implements Recorded {}

  /** Something that leaves the partition. */
  public sealed interface Output {}

  public sealed interface ToClient extends Output {
    /** Of the {@link Input.Command} that is answered. */
    long ticket();

    Reply reply();
  }

  public record Answer(long ticket, Reply reply) implements ToClient {}

  /**
   * An answer that takes long to be made, as one with all of a large set does: others are not to
   * wait for it.
   *
   * @param made makes it, in any thread; never throws
   * @param reads the step of an open transaction whose reads are made, if it is one
   */
  public record LongAnswer(long ticket, Supplier<Reply> made, Optional<Input.Untold> reads)
      implements ToClient {
    @Override
    public Reply reply() {
      return made.get();
    }

    /**
     * What the partition is to hear if this is answered so, before whoever asked does, and before
     * any command that comes after that.
     */
    public Optional<Input> follows(Reply answer) {
      boolean goesOn =
          !(answer instanceof Reply.Failure f) || f.code() == ErrorCode.VALUE_TOO_LARGE;
      return goesOn ? Optional.empty() : reads.map(Input.class::cast);
    }
  }

  /**
   * A frame to an incarnation of a datacenter; dropped if that is not connected any more, which the
   * streams recover from.
   */
  public record Send(ReplicaId to, Frame frame) implements Output {}

  /**
   * What became visible with this batch: for watchers, while there are any.
   *
   * @param life of the {@link Input.Watched}
   * @param changes in the order in which they became visible; none where only more is complete
   * @param here all updates that have come here completely are these
   * @param far nothing that is visible is beyond this
   * @param over what has expired since the last time, though it is not removed yet
   * @param authors by changes' tickets, who has made them, of those who want to know their own
   */
  public record Visible(
      long life,
      List<Change> changes,
      VersionVector here,
      VersionVector far,
      List<ObjectId> over,
      Map<Long, Long> authors)
      implements Output {
    /** The same, of these authors. */
    public Visible by(Map<Long, Long> who) {
      return new Visible(life, changes, here, far, over, who);
    }
  }

  /**
   * An object was changed.
   *
   * @param origin who made the update; null where there may be several
   * @param ends whether it is the last one of those that became visible together
   * @param ticket of the command that has made it; 0 if none is known to
   */
  public record Change(ObjectId object, @Nullable ReplicaId origin, boolean ends, long ticket) {
    /** One of no known command. */
    public Change(ObjectId object, @Nullable ReplicaId origin, boolean ends) {
      this(object, origin, ends, 0);
    }
  }

  /**
   * The answer to an {@link Input.Inspect}; waits for no record.
   *
   * @param ticket of the input
   */
  public record Report(long ticket, PartitionReport report) {}

  /**
   * Writes the records to a journal and ends their group.
   *
   * @param then is run once, by any thread, when they are durable: lets go what waits for that
   */
  public void keep(Journal journal, Runnable then) {
    for (Recorded record : records) {
      switch (record) {
        case Applied a -> journal.append(a.update(), a.state());
        case Committed c -> journal.committed(c.transaction(), c.number());
        case Forgotten f -> {} // the store has noted it when it dropped the object
      }
    }
    journal.commit(progress, then);
  }
}
