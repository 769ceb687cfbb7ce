package io.osier.propagation.wire;

import io.osier.core.CausalContext;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.EntryKey;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.EntryRanges;
import java.util.List;
import java.util.Optional;

/**
 * A message of one partition to the same partition at another datacenter. A stream is one way: the
 * data of A for B flows in A's frames to B, and B's acknowledgements in B's frames to A.
 * docs/PROTOCOL.md draws the conversation.
 */
public sealed interface Frame {
  /** Why updates are shipped now. */
  enum Kind {
    /** Operations, which leave at once. */
    OPS(0),
    /** A round: held objects whose deadline was reached. */
    ROUND(1),
    /** Updates that the receiver has missed. */
    CATCH_UP(2);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    /** Returns the number that the encoded form carries. */
    int number() {
      return number;
    }
  }

  /**
   * A place in the sender's stream, from which it can go on after any interruption. Only the sender
   * reads it; the receiver stores it with the updates that it applied and gives it back in {@link
   * Resume}.
   *
   * @param life of the sender's store; in another life the rest means nothing
   * @param base the sender's count of shipped segments up to which the receiver has all of them. In
   *     a scan of all objects, the count when the scan began. At most {@code done}: a larger value
   *     is lowered to it, and the stream then sends some segments once more
   * @param done for objects that were last shipped up to this count, the receiver has everything.
   *     In a scan, the last commit number when the scan began: less than the count where few
   *     updates were made and datacenters were added, for each of which the count grows by one
   * @param sent the receiver has each object whose last update of the sender has a number up to
   *     this one: the next scan does not send again what a scan has found once
   * @param scanned in a scan, the last object that was shipped; empty otherwise
   */
  record Cursor(long life, long base, long done, long sent, Optional<ObjectId> scanned) {
    public Cursor {
      base = Math.min(base, done);
    }
  }

  /**
   * Carries updates of the sender.
   *
   * @param epoch the stream's, from the receiver's {@link Resume}
   * @param sequence 1, 2, 3, … within the epoch, so that a missing frame is noticed
   * @param through with this frame, every update of the sender up to here has been shipped
   * @param deps in a {@code causal} keyspace what the sender had of the others when it shipped the
   *     last of the updates: the cut that {@code through} closes depends on it; otherwise empty
   * @param cursor the place of the stream after this frame
   * @param outage whether the link was down while these updates waited, so that no SLA holds for
   *     them
   * @param sentMillis the sender's wall clock
   */
  record Updates(
      Kind kind,
      long epoch,
      long sequence,
      long through,
      VersionVector deps,
      Optional<Cursor> cursor,
      boolean outage,
      long sentMillis,
      List<Shipment> shipments)
      implements Frame {}

  /**
   * Acknowledges that all frames of the epoch up to this one have been applied, as durably as
   * configured.
   */
  record Ack(long epoch, long sequence) implements Frame {}

  /**
   * Asks the sender to start its stream, or to start it again.
   *
   * @param epoch larger than any before
   * @param through every update of the sender up to here has been applied
   * @param cursor the place of the last frame that was applied; empty if none was, or if that frame
   *     had none: then the stream begins with a scan
   */
  record Resume(long epoch, long through, Optional<Cursor> cursor) implements Frame {}

  /**
   * Says what its sender has. Sent when that changes, and as a sign of life.
   *
   * @param wantResume whether the sender's stream to the receiver is waiting for a {@link Resume}
   * @param epoch of the sender's stream to the receiver; while it waits, the last one that the
   *     sender knows; 0 if none
   * @param sequence the stream's last frame, so that the loss of the last frame is noticed
   * @param through the number up to which the sender has every replica's updates
   * @param life of the sender's store
   * @param changes for each replica how many times in this life an update of it was applied at the
   *     sender: together with the life it differs from an earlier one if anything came
   * @param committed the sender's last commit number, shipped or not
   * @param waiting whether updates have come to the sender that are not visible there yet
   * @param sentMillis the sender's wall clock
   */
  record Status(
      boolean wantResume,
      long epoch,
      long sequence,
      VersionVector through,
      long life,
      VersionVector changes,
      long committed,
      boolean waiting,
      long sentMillis)
      implements Frame {}

  /**
   * Asks a third datacenter for its updates of an origin that cannot be reached, page by page.
   *
   * @param request its number, which the answer repeats
   * @param origin whose updates are missing
   * @param after the requesting side has every update of the origin up to here; 0 if it takes only
   *     whole states
   * @param besides later updates of the origin that the requesting side has: the last one on each
   *     object, which stands for all before it on the same object; also the first ones, where it
   *     has them and {@code after} does not say so
   * @param page where the next page starts: the page's cursor from the answer before, 0 at first
   */
  record Heal(long request, ReplicaId origin, long after, CausalContext besides, Page page)
      implements Frame {
    /** Returns the number up to which the requesting side has every update of the origin. */
    public long through() {
      return Math.max(after, besides.through(origin));
    }

    /**
     * Whether the requesting side has an update of the origin, and with it all before it on its
     * object.
     */
    public boolean has(long number) {
      return number <= after || besides.contains(origin, number);
    }
  }

  /**
   * A place in the order in which a datacenter applied an origin's updates. Places of two lives
   * cannot be compared.
   *
   * @param life of its store
   * @param change how many times in this life an update of the origin was applied, 0 if never
   */
  record Place(long life, long change) {
    /** The place before everything. */
    public static final Place NONE = new Place(0, 0);
  }

  /**
   * A place in a repair.
   *
   * @param place the repair is done with objects whose last change by the origin is not after this
   * @param scanned in a scan of all objects, the last one that it is done with
   */
  record Page(Place place, Optional<ObjectId> scanned) {}

  /**
   * Asks of which objects the receiver has forgotten updates: the sender may have lost what it had
   * acknowledged, for example a removal after which everybody else forgot the object.
   *
   * @param request its number, which the answer repeats
   * @param objects in their order
   */
  record Verify(long request, List<Known> objects) implements Frame {}

  /** An object, and up to which update of each replica the sender has it. */
  record Known(ObjectId object, VersionVector through) {}

  /**
   * Answers {@link Verify}.
   *
   * @param last the last object that is answered for: the objects behind it must be asked for again
   * @param shipments the states of the objects of which updates were forgotten, with the context of
   *     all that was ever seen
   * @param deps in a {@code causal} keyspace everything that these states show; otherwise empty
   */
  record Verified(long request, ObjectId last, List<Shipment> shipments, VersionVector deps)
      implements Frame {}

  /**
   * Asks for rights of a bounded counter: the receiver gives what it can spare, as an update of the
   * counter.
   *
   * @param amount how much is needed
   * @param upward whether rights to add; otherwise to subtract
   */
  record Rights(ObjectId object, long amount, boolean upward) implements Frame {}

  /**
   * Asks for the full states of objects in whose updates a gap was seen.
   *
   * @param request its number, which the answer repeats
   */
  record Fetch(long request, List<ObjectId> objects) implements Frame {}

  /**
   * Carries full states: an answer to {@link Heal} or {@link Fetch}, as many as fit in a page.
   *
   * @param request the number of the request
   * @param origin the origin that was asked for; empty for an answer to {@link Fetch}
   * @param next where the next page starts; empty after the last page. For an answer to {@link
   *     Fetch} only its object counts: the last that is answered for
   * @param through after the last page: the number up to which the answering side has the origin's
   *     updates
   * @param changes after the last page: how much of the origin had come to the answering side
   * @param deps after the last page, in a {@code causal} keyspace: everything that the pages show;
   *     otherwise empty
   */
  record States(
      long request,
      Optional<ReplicaId> origin,
      Optional<Page> next,
      long through,
      Place changes,
      VersionVector deps,
      List<Shipment> shipments)
      implements Frame {}

  /**
   * Carries states with an offer of another one, which belongs to the answer and is too large for
   * it: the asking side pulls that state, and then takes all as one answer.
   *
   * @param offer of {@link Offer#OF_ANSWER}, with a number that no other offer has, in any life
   */
  record StatesAndOffer(States states, Offer offer) implements Frame {}

  /**
   * Says that a state that was offered with an answer is no longer available: the request must be
   * repeated.
   *
   * @param number of the offer
   */
  record Withdrawn(long number) implements Frame {}

  /**
   * Offers the state of a large set or map of which the receiver lacks something: the receiver
   * pulls the entries that it lacks. The sender's stream goes on when it has them.
   *
   * @param epoch of the sender's stream, or {@link #OF_ANSWER}
   * @param number counts the offers within the epoch; its last {@link #TIMES_BITS} bits count how
   *     often this one was sent. A pull repeats the number that was received last
   * @param version the offered version without its entries
   */
  record Offer(long epoch, long number, ObjectId object, EntryRanges.Head version)
      implements Frame {
    /** The number of low bits that count how often an offer was sent, modulo. */
    public static final int TIMES_BITS = 8;

    /** The epoch of an offer that belongs to an answer: it belongs to no stream. */
    public static final long OF_ANSWER = 0;

    /** Whether both offer the same version: one may be a repetition of the other. */
    public boolean isSame(Offer other) {
      return isOf(other.epoch, other.number)
          && object.equals(other.object)
          && version.equals(other.version);
    }

    /** Whether a number is this offer's, however often it was sent. */
    public boolean isOf(long ofEpoch, long ofNumber) {
      return epoch == ofEpoch && number >>> TIMES_BITS == ofNumber >>> TIMES_BITS;
    }
  }

  /**
   * Asks for more of an offered state.
   *
   * @param epoch of the offer
   * @param number of the offer, as it was received last
   * @param done whether the state was received completely and applied: then nothing is asked for
   * @param after the entry behind which the page of ranges begins
   * @param ranges the indices in the page of the ranges whose entries are asked for; if there are
   *     none, the page itself is asked for
   */
  record Pull(
      long epoch, long number, ObjectId object, boolean done, EntryKey after, List<Integer> ranges)
      implements Frame {
    /** Whether both pulls, of one offer, ask for the same. */
    public boolean asksSame(Pull other) {
      return after.equals(other.after) && ranges.equals(other.ranges);
    }
  }

  /**
   * Answers {@link Pull}: a page of ranges, with their hashes.
   *
   * @param ranges one or more; the last one of the object has no end
   */
  record Ranges(
      long epoch, long number, ObjectId object, EntryKey after, List<EntryRanges.Range> ranges)
      implements Frame {}

  /**
   * Answers {@link Pull}: all entries of some ranges.
   *
   * @param ranges the first ones of those that were asked for
   * @param entries a state with only these entries
   */
  record Entries(long epoch, long number, EntryKey after, List<Integer> ranges, Shipment entries)
      implements Frame {}
}
