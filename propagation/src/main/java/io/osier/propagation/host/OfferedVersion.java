package io.osier.propagation.host;

import static java.util.Objects.requireNonNull;

import io.osier.core.VersionVector;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A version of a large set or map that a peer pulls: all its requests are answered from that
 * version, by {@link EntryRanges}. Not thread-safe.
 */
public final class OfferedVersion {
  /**
   * A range has about this share of {@link StreamSettings#pullBytes} of entries. An answer with
   * entries has about as many bytes as that setting.
   */
  private static final int RANGE_SHARE = 512;

  /**
   * A page of ranges has this share of a frame's usual bytes: both sides read many entries for it.
   */
  private static final int PAGE_SHARE = 4;

  private final ReplicationContext around;
  private final ObjectId object;
  private final CrdtState state;
  private final EntryRanges.Head head;

  /** The page of ranges that was requested last; null before the first. */
  private @Nullable List<EntryRanges.Range> page;

  private EntryKey after = EntryKey.NONE;

  /** Creates a version of a state whose {@link EntryRanges#arePossible}. */
  public OfferedVersion(ObjectId object, CrdtState state, ReplicationContext around) {
    this.object = object;
    this.state = state;
    this.head = EntryRanges.Head.of(state);
    this.around = around;
  }

  /** Returns an offer of this version. */
  public Frame.Offer offer(long epoch, long number) {
    return new Frame.Offer(epoch, number, object, head);
  }

  /**
   * Keeps the version from changing for a time, as {@link Decomposition#hold}.
   *
   * @return whether it has not changed until now
   */
  public boolean hold() {
    return Decomposition.hold(state);
  }

  /** Returns the version's object. */
  public ObjectId object() {
    return object;
  }

  /** Returns the version's size, in bytes. */
  public long sizeBytes() {
    return state.sizeBytes();
  }

  /** Returns the bytes that its offer takes besides the context. */
  public long headBytes() {
    return head.deadlines().length;
  }

  /** Returns this datacenter's last commit number in the version. */
  public long last() {
    return state.context().through(around.self());
  }

  /** Returns what a pull asks for; empty if the version has no such ranges. */
  public Optional<Frame> answer(Frame.Pull pull) {
    List<EntryRanges.Range> ranges = page(pull.after());
    if (pull.ranges().isEmpty()) {
      return Optional.of(
          new Frame.Ranges(pull.epoch(), pull.number(), object, pull.after(), ranges));
    }
    return pull.ranges().getLast() < ranges.size()
        ? Optional.of(entries(pull, ranges))
        : Optional.empty();
  }

  private List<EntryRanges.Range> page(EntryKey from) {
    if (page == null || !after.equals(from)) {
      after = from;
      page =
          EntryRanges.of(
              state,
              from,
              around.settings().pullBytes() / RANGE_SHARE,
              around.settings().frameBytes() / PAGE_SHARE);
    }
    return requireNonNull(page);
  }

  private Frame.Entries entries(Frame.Pull pull, List<EntryRanges.Range> ranges) {
    EntryRanges.Some some =
        EntryRanges.entries(
            state, pull.after(), ranges, pull.ranges(), around.settings().pullBytes());
    Shipment shipment =
        new Shipment(object, around.self(), 0, VersionVector.EMPTY, last(), 0, 0, some.content());
    return new Frame.Entries(pull.epoch(), pull.number(), pull.after(), some.ranges(), shipment);
  }
}
