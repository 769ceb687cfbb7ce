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
 * The state of a large object that a peer offers, pulled by what is lacking here: page by page of
 * its ranges, and the entries of those that are otherwise here. What has come is kept here until
 * all of it has, and nobody sees it before. Not thread-safe.
 */
public final class StatePull {
  /** The entries of so many ranges are asked for at once. */
  static final int RANGES_MAX = 256;

  private final ReplicaId sender;

  /** As it was heard last. */
  private Frame.Offer offer;

  /** What was here, with what has come. */
  private CrdtState version;

  /** What has come takes so much in the heap, about. */
  private long bytes;

  private long heardNanos;
  private EntryKey after = EntryKey.NONE;

  /** The page that begins there; null before it has come. */
  private @Nullable List<EntryRanges.Range> page;

  /** Of the page, those whose entries have not come. */
  private List<Integer> lacking = List.of();

  /**
   * Begins with a version of the object that is here, or with entries that came before.
   *
   * @param bytes what came before takes so much in the heap, about, unless it is counted elsewhere
   */
  public StatePull(
      ReplicaId sender, Frame.Offer offer, CrdtState version, long bytes, long nowNanos) {
    this.sender = sender;
    this.offer = offer;
    this.version = version;
    this.bytes = bytes;
    this.heardNanos = nowNanos;
  }

  /** If the version that it begins with is the very one that is offered, nothing is lacking. */
  void lookIfSame() {
    if (version.context().equals(offer.version().context())
        && EntryRanges.Head.of(version).equals(offer.version())) {
      page = List.of();
    }
  }

  public Frame.Offer offer() {
    return offer;
  }

  /** The sender makes the offer again. */
  public void heard(Frame.Offer again, long nowNanos) {
    offer = again;
    heardNanos = nowNanos;
  }

  /** The sender says something of it. */
  public void heard(long nowNanos) {
    heardNanos = nowNanos;
  }

  /** When the sender said something of it last: if that is long ago, it may offer it no more. */
  long heardNanos() {
    return heardNanos;
  }

  /**
   * What was here, with what has come: who is offered the object anew begins with that. Empty if it
   * has not stayed the same, since it took too long.
   */
  public Optional<CrdtState> version() {
    return Decomposition.hold(version) ? Optional.of(version) : Optional.empty();
  }

  public Frame.Pull ask() {
    return ask(RANGES_MAX);
  }

  /** What to ask for now, of entries so many ranges at most. */
  Frame.Pull ask(int rangesMax) {
    List<Integer> ranges = lacking.subList(0, Math.min(rangesMax, lacking.size()));
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), false, after, List.copyOf(ranges));
  }

  /** What to say when it was applied. */
  public static Frame.Pull done(Frame.Offer offer) {
    return new Frame.Pull(
        offer.epoch(), offer.number(), offer.object(), true, EntryKey.NONE, List.of());
  }

  /** Takes a page. Returns whether it was waited for; then {@link #isComplete} tells more. */
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

  /** Takes entries. Returns whether they were waited for; then {@link #isComplete} tells more. */
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

  /** What has come takes so much in the heap, about, in bytes. */
  public long heapBytes() {
    return bytes;
  }

  /** Whether all that was lacking has come. */
  public boolean isComplete() {
    return lacking.isEmpty() && page != null;
  }

  /** The version that was offered, once it is complete. */
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
