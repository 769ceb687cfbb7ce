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
 * What one partition sends to the same partition at another datacenter. A stream is one way: the
 * data of A for B flows in A's frames to B, and B's acknowledgements in B's frames to A.
 * docs/PROTOCOL.md draws the conversation.
 */
public sealed interface Frame {
  /** Why updates are shipped now. */
  enum Kind {
    /** Operations, at once. */
    OPS(0),
    /** A flush of dirty objects whose deadline has come. */
    ROUND(1),
    /** What the receiver has missed. */
    CATCH_UP(2);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    /** The number that the encoded form carries. */
    int number() {
      return number;
    }
  }

  /**
   * A place in the sender's stream, from which it can go on after any interruption. Only the sender
   * reads it; the receiver stores it with what it applied and gives it back in {@link Resume}.
   *
   * @param life of the sender's store: in another one the rest means nothing
   * @param base the sender's count of shipped segments: whatever was shipped up to it has come. In
   *     a scan of all objects, the count when the scan began. At most {@code done}, which is taken
   *     where it is more: whoever goes on at a lower base is sent some segments once more
   * @param done whatever was shipped of the objects that were last shipped up to it has come, too.
   *     In a scan, the last commit number when the scan began: less than the count where few
   *     updates were made and datacenters were added, for each of which it counts one
   * @param sent each object whose last update of the sender is numbered up to this has come with
   *     it: what a scan has found once is not sent again by the next one
   * @param scanned in a scan, the last object that was shipped; empty otherwise
   */
  record Cursor(long life, long base, long done, long sent, Optional<ObjectId> scanned) {
    public Cursor {
      base = Math.min(base, done);
    }
  }

  /**
   * Updates of the sender.
   *
   * @param epoch the stream's, from the receiver's {@link Resume}
   * @param sequence 1, 2, 3, … within the epoch: a missing frame is seen
   * @param through with this frame, every update of the sender up to here has been shipped
   * @param deps in a {@code causal} keyspace what the sender had of the others when it shipped the
   *     last of them: the cut that {@code through} closes depends on it; otherwise empty
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

  /** All frames of the epoch up to this one have been applied, as durably as configured. */
  record Ack(long epoch, long sequence) implements Frame {}

  /**
   * The receiver asks the sender to (re)start its stream.
   *
   * @param epoch larger than any before
   * @param through every update of the sender up to here has been applied
   * @param cursor the place of the last frame that was applied; empty if none was, or if that had
   *     none: what was applied then is to be scanned from the beginning
   */
  record Resume(long epoch, long through, Optional<Cursor> cursor) implements Frame {}

  /**
   * What the sender has; sent when it changes and as a sign of life.
   *
   * @param wantResume the sender's stream to the receiver is waiting for a {@link Resume}
   * @param epoch of the sender's stream to the receiver, also of one that waits: the last that it
   *     has heard of; 0 if none
   * @param sequence the stream's last frame: a lost last frame is seen
   * @param through what the sender has of every replica
   * @param life of the sender's store
   * @param changes per replica how many times in this life something of it was applied at the
   *     sender: together with the life it differs from an earlier one if anything came
   * @param committed the sender's last commit number, shipped or not
   * @param waiting whether updates have come to the sender that are not visible there yet
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
   * Asks a third datacenter for what it has of an origin that cannot be reached, in pages.
   *
   * @param request its number, which the answer repeats
   * @param origin whose updates are missing
   * @param after every update of the origin up to here is there; 0 from one that takes nothing but
   *     whole states
   * @param besides of the origin's later updates the last one on each object that is there, with
   *     all that came before it on the object; all of the first ones, where they are there and
   *     {@code after} does not say so
   * @param page where the next page starts: the page's cursor from the answer before, 0 at first
   */
  record Heal(long request, ReplicaId origin, long after, CausalContext besides, Page page)
      implements Frame {
    /** Every update of the origin up to here is there. */
    public long through() {
      return Math.max(after, besides.through(origin));
    }

    /** Whether an update of the origin is there, and with it all before it on its object. */
    public boolean has(long number) {
      return number <= after || besides.contains(origin, number);
    }
  }

  /**
   * How much of an origin had come to a datacenter. Counts of two lives cannot be compared.
   *
   * @param life of its store
   * @param change how many times in this life something of the origin was applied, 0 if never
   */
  record Place(long life, long change) {
    /** Before everything. */
    public static final Place NONE = new Place(0, 0);
  }

  /**
   * A place in a repair.
   *
   * @param place objects whose last change by the origin is not after it are done
   * @param scanned in a scan of all objects the last one done
   */
  record Page(Place place, Optional<ObjectId> scanned) {}

  /**
   * Asks which of these objects the receiver has forgotten something of: the sender may have lost
   * what it had acknowledged, a removal for example after which everybody else forgot the object.
   *
   * @param request its number, which the answer repeats
   * @param objects in their order
   */
  record Verify(long request, List<Known> objects) implements Frame {}

  /** An object and up to which update of each replica the sender has it. */
  record Known(ObjectId object, VersionVector through) {}

  /**
   * Answers {@link Verify}.
   *
   * @param last the last object that is answered for: what was asked for behind it must be asked
   *     for again
   * @param shipments of the objects of which something was forgotten, the states, with the context
   *     of all that was ever seen
   * @param deps in a {@code causal} keyspace all that these show; otherwise empty
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
   * Full states: an answer to {@link Heal} or {@link Fetch}, as many as fit in a page.
   *
   * @param request the number of the request
   * @param origin the origin that was asked for; empty for an answer to {@link Fetch}
   * @param next where the next page starts; empty after the last page. For an answer to {@link
   *     Fetch} only its object counts: the last that is answered for
   * @param through after the last page: what the answering datacenter has of the origin
   * @param changes after the last page: how much of the origin had come to it
   * @param deps after the last page, in a {@code causal} keyspace: all that the pages show;
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
   * States with an offer of another one, which belongs to the answer and is too large for it: who
   * asked pulls that, and takes all as one answer.
   *
   * @param offer of {@link Offer#OF_ANSWER}, with a number that no other has, in no life
   */
  record StatesAndOffer(States states, Offer offer) implements Frame {}

  /**
   * What was offered with an answer is not to be had any more: the answer is to be asked for again.
   *
   * @param number of the offer
   */
  record Withdrawn(long number) implements Frame {}

  /**
   * Offers the state of a large set or map, of which the receiver lacks something: it pulls what
   * that is. The sender's stream goes on when it has.
   *
   * @param epoch of the sender's stream, or {@link #OF_ANSWER}
   * @param number counts the offers within the epoch, and in its last {@link #TIMES_BITS} how often
   *     this one was made: who pulls gives the number that was heard last
   * @param version what the version that is offered has beside its entries
   */
  record Offer(long epoch, long number, ObjectId object, EntryRanges.Head version)
      implements Frame {
    /** So many bits of the number differ where an offer is made again, modulo. */
    public static final int TIMES_BITS = 8;

    /** The epoch of what is offered with an answer: it is of no stream. */
    public static final long OF_ANSWER = 0;

    /** Whether both offer the same version: one may be the other, made again. */
    public boolean isSame(Offer other) {
      return isOf(other.epoch, other.number)
          && object.equals(other.object)
          && version.equals(other.version);
    }

    /** Whether a number is this offer's, however often it was made. */
    public boolean isOf(long ofEpoch, long ofNumber) {
      return epoch == ofEpoch && number >>> TIMES_BITS == ofNumber >>> TIMES_BITS;
    }
  }

  /**
   * Asks for more of what was offered.
   *
   * @param epoch of the offer
   * @param number of the offer, as it was heard last
   * @param done whether all of it is there and was applied: then nothing is asked for
   * @param after behind which entry the page of ranges begins that this is about
   * @param ranges the places in the page of those whose entries are asked for; if there are none,
   *     the page itself is
   */
  record Pull(
      long epoch, long number, ObjectId object, boolean done, EntryKey after, List<Integer> ranges)
      implements Frame {
    /** Whether both, of one offer, ask for the same. */
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
   * @param entries a state with these entries alone
   */
  record Entries(long epoch, long number, EntryKey after, List<Integer> ranges, Shipment entries)
      implements Frame {}
}
