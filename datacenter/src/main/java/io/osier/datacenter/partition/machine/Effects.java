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
 * The effects that a {@link Machine} asks for after a batch of inputs: plain data, which can be
 * written down and read back, except a {@link LongAnswer}. The shell carries it out in this order:
 *
 * <ol>
 *   <li>{@link #atOnce} may leave at any time.
 *   <li>{@link #records} and {@link #progress} are made durable, as one group, after those of all
 *       earlier effects. When they are, others may see the objects as the records show them.
 *   <li>{@link #whenDurable} leaves after that, and not before (invariant I5), in its order.
 * </ol>
 *
 * <p>The lists belong to whoever took the effects, and are not to be changed.
 *
 * @param records records of what was done, in order; empty where nobody keeps them
 * @param progress the partition's progress, if it must be stored with the records
 */
public record Effects(
    List<Recorded> records,
    Optional<PartitionProgress> progress,
    List<Output> whenDurable,
    List<Report> atOnce) {
  /** No effects. */
  public static final Effects NONE = new Effects(List.of(), Optional.empty(), List.of(), List.of());

  /** A record of something that was done. */
  public sealed interface Recorded {}

  /**
   * A local or remote update was applied.
   *
   * @param state the object with the update: the version that becomes visible
   */
  public record Applied(Shipment update, CrdtState state) implements Recorded {}

  /**
   * A transaction was committed: its updates are among those applied before. The record makes its
   * commit known if the client sends it again.
   *
   * @param number the last commit number of it
   */
  public record Committed(TransactionId transaction, long number) implements Recorded {}

  /** An object that only remembered its removal was dropped. */
  public record Forgotten(ObjectId object) implements Recorded {}

  /** Something that leaves the partition. */
  public sealed interface Output {}

  public sealed interface ToClient extends Output {
    /** The ticket of the {@link Input.Command} that is answered. */
    long ticket();

    Reply reply();
  }

  public record Answer(long ticket, Reply reply) implements ToClient {}

  /**
   * An answer that takes long to make, such as all of a large set: other commands do not wait for
   * it.
   *
   * @param made makes it, in any thread; never throws
   * @param reads the step of an open transaction whose reads these are, if so
   */
  public record LongAnswer(long ticket, Supplier<Reply> made, Optional<Input.Untold> reads)
      implements ToClient {
    @Override
    public Reply reply() {
      return made.get();
    }

    /**
     * Returns the input that the partition must get if this is answered by such a reply: before the
     * client gets the reply, and before any later command.
     */
    public Optional<Input> follows(Reply answer) {
      boolean goesOn =
          !(answer instanceof Reply.Failure f) || f.code() == ErrorCode.VALUE_TOO_LARGE;
      return goesOn ? Optional.empty() : reads.map(Input.class::cast);
    }
  }

  /**
   * A frame to an incarnation of a datacenter; dropped if that is no longer connected, from which
   * the streams recover.
   */
  public record Send(ReplicaId to, Frame frame) implements Output {}

  /**
   * What became visible with this batch: reported while somebody watches.
   *
   * @param life of the {@link Input.Watched}
   * @param changes in the order in which they became visible; empty if only {@code here} has grown
   * @param here the updates up to which everything is here
   * @param far no visible update is beyond this
   * @param over objects with parts that have expired since the last report, though they are not
   *     removed yet
   * @param authors by tickets of changes, the watchers that made them and want to know their own
   */
  public record Visible(
      long life,
      List<Change> changes,
      VersionVector here,
      VersionVector far,
      List<ObjectId> over,
      Map<Long, Long> authors)
      implements Output {
    /** Returns the same with these authors. */
    public Visible by(Map<Long, Long> who) {
      return new Visible(life, changes, here, far, over, who);
    }
  }

  /**
   * An object was changed.
   *
   * @param origin the replica that made the update; null if there may be several
   * @param ends whether it is the last of the changes that became visible together
   * @param ticket of the command that made it; 0 if none is known
   */
  public record Change(ObjectId object, @Nullable ReplicaId origin, boolean ends, long ticket) {
    /** A change of no known command. */
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
   * @param then runs once, in any thread, when the records are durable, and releases the effects
   *     that wait for that
   */
  public void keep(Journal journal, Runnable then) {
    for (Recorded record : records) {
      switch (record) {
        case Applied a -> journal.append(a.update(), a.state());
        case Committed c -> journal.committed(c.transaction(), c.number());
        case Forgotten f -> {} // the store recorded it when it dropped the object
      }
    }
    journal.commit(progress, then);
  }
}
