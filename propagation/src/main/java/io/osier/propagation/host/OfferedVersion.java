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
 * A version of a large set or map that a peer pulls: whatever it asks for is answered from that, by
 * {@link EntryRanges}. Not thread-safe.
 */
public final class OfferedVersion {
  /**
   * Of {@link StreamSettings#pullBytes}: what a range has of entries. Answers with entries have
   * about as many bytes as it.
   */
  private static final int RANGE_SHARE = 512;

  /** Of a frame's usual bytes: a page of ranges, for which both sides read many entries. */
  private static final int PAGE_SHARE = 4;

  private final ReplicationContext around;
  private final ObjectId object;
  private final CrdtState state;
  private final EntryRanges.Head head;

  /** The page of ranges that was asked for last; null before. */
  private @Nullable List<EntryRanges.Range> page;

  private EntryKey after = EntryKey.NONE;

  /** A state that {@link EntryRanges#arePossible} has ranges. */
  public OfferedVersion(ObjectId object, CrdtState state, ReplicationContext around) {
    this.object = object;
    this.state = state;
    this.head = EntryRanges.Head.of(state);
    this.around = around;
  }

  /** Offers it. */
  public Frame.Offer offer(long epoch, long number) {
    return new Frame.Offer(epoch, number, object, head);
  }

  /**
   * Keeps it the same for a time, as {@link Decomposition#hold}.
   *
   * @return whether it has stayed so until now
   */
  public boolean hold() {
    return Decomposition.hold(state);
  }

  /** Its object. */
  public ObjectId object() {
    return object;
  }

  /** Its size, in bytes. */
  public long sizeBytes() {
    return state.sizeBytes();
  }

  /** What its offer takes beside its context, in bytes. */
  public long headBytes() {
    return head.deadlines().length;
  }

  /** This datacenter's last commit number in it. */
  public long last() {
    return state.context().through(around.self());
  }

  /** What was asked for; empty if there is no such thing in it. */
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
