package io.osier.propagation.pull;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.EntryKey;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.Decomposition;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pulls the state of a large object that a peer offers: requests the pages of its ranges one by
 * one, and the entries of the ranges that differ from the version here. Keeps the received part
 * until it is complete; nobody sees it before. Not thread-safe.
 */
public final class StatePull {
  /** The number of ranges whose entries are requested at once. */
  static final int RANGES_MAX = 256;

  private final ReplicaId sender;

  /** The offer as it was last received. */
  private Frame.Offer offer;

  /** The version here, joined with the received part. */
  private CrdtState version;

  /** About how many bytes the received part takes in the heap. */
  private long bytes;

  private long heardNanos;
  private EntryKey after = EntryKey.NONE;

  /** The page that begins behind {@link #after}; null before it was received. */
  private @Nullable List<EntryRanges.Range> page;

  /** The indices of the page's ranges whose entries have not come. */
  private List<Integer> lacking = List.of();

  /**
   * Begins with a version of the object that is here, or with entries that came before.
   *
   * @param bytes about how many heap bytes the entries that came before take, unless they are
   *     counted elsewhere
   */
  public StatePull(
      ReplicaId sender, Frame.Offer offer, CrdtState version, long bytes, long nowNanos) {
    this.sender = sender;
    this.offer = offer;
    this.version = version;
    this.bytes = bytes;
    this.heardNanos = nowNanos;
  }

  /** Marks the pull as complete if its version is the offered one. */
  void lookIfSame() {
    if (version.context().equals(offer.version().context())
        && EntryRanges.Head.of(version).equals(offer.version())) {
      page = List.of();
    }
  }

  public Frame.Offer offer() {
    return offer;
  }

  /** Notes that the sender repeats the offer. */
  public void heard(Frame.Offer again, long nowNanos) {
    offer = again;
    heardNanos = nowNanos;
  }

  /** Notes that the sender has sent something of the object. */
  public void heard(long nowNanos) {
    heardNanos = nowNanos;
  }

  /** Returns when the sender last did that; if it is long ago, the offer may exist no more. */
  long heardNanos() {
    return heardNanos;
  }

  /**
   * Returns the version here joined with the received part, with which a pull for a new offer can
   * begin. Empty if the version has changed because the pull took too long.
   */
  public Optional<CrdtState> version() {
    return Decomposition.hold(version) ? Optional.of(version) : Optional.empty();
  }

  public Frame.Pull ask() {
    return ask(RANGES_MAX);
  }

  /** Returns the next request, for the entries of at most this many ranges. */
  Frame.Pull ask(int rangesMax) {
    List<Integer> ranges = lacking.subList(0, Math.min(rangesMax, lacking.size()));
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), false, after, List.copyOf(ranges));
  }

  /** Returns the report that the state was applied. */
  public static Frame.Pull done(Frame.Offer offer) {
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), true, EntryKey.NONE, List.of());
  }

  /**
   * Takes a page of ranges. Returns whether it was expected; then {@link #isComplete} may have
   * changed.
   */
  public boolean take(Frame.Ranges ranges) {
    if (!offer.isOf(ranges.epoch(), ranges.number())
        || page != null
        || !ranges.after().equals(after)) {
      return false;
    }
    page = ranges.ranges();
    lacking = EntryRanges.differing(version, after, page);
    nextPage();
    return true;
  }

  /**
   * Takes entries. Returns whether they were expected; then {@link #isComplete} may have changed.
   */
  public boolean take(Frame.Entries entries) {
    List<EntryRanges.Range> about = page;
    int n = entries.ranges().size();
    if (!offer.isOf(entries.epoch(), entries.number())
        || about == null
        || !entries.after().equals(after)
        || n == 0
        || n > lacking.size()
        || !entries.ranges().equals(lacking.subList(0, n))) {
      return false;
    }
    EntryRanges.Some some = new EntryRanges.Some(entries.entries().content(), entries.ranges());
    version = EntryRanges.with(version, after, about, some);
    lacking = List.copyOf(lacking.subList(n, lacking.size()));
    bytes += some.content().sizeBytes();
    nextPage();
    return true;
  }

  private void nextPage() {
    if (lacking.isEmpty() && page != null && !page.getLast().last().isNone()) {
      after = page.getLast().last();
      page = null;
    }
  }

  /** Returns about how many bytes the received part takes in the heap. */
  public long heapBytes() {
    return bytes;
  }

  /** Whether every entry that was lacking was received. */
  public boolean isComplete() {
    return lacking.isEmpty() && page != null;
  }

  /** Returns the offered version, once it is complete. */
  public Shipment shipment() {
    return new Shipment(
        offer.object(),
        sender,
        0,
        VersionVector.EMPTY,
        offer.version().context().through(sender),
        0,
        0,
        EntryRanges.completed(version, offer.version()));
  }
}
