package io.osier.propagation.send;

import static java.util.Objects.requireNonNull;

import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.crdt.state.EntryRanges;
import io.osier.propagation.host.LinkWindow;
import io.osier.propagation.host.OfferedVersion;
import io.osier.propagation.host.ReplicationContext;
import io.osier.propagation.wire.Frame;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The large states that one peer lacks something of: they are not shipped but offered, a few at a
 * time, and the peer pulls what it lacks, by {@link EntryRanges}. What that takes is in its
 * requests, but for the versions that were offered.
 *
 * <p>Entries take of the link's window until the peer asks for the next of their object. Where it
 * is spent, requests wait. An answer may be long under way, behind others: the same one is given
 * again to who has heard an offer that was made after it, since what a link carries comes in its
 * order. Not thread-safe.
 */
final class StateOffers {
  /** A peer that says nothing to an offer so many times is given the state. */
  private static final int ATTEMPTS_MAX = 16;

  /** A link that has become good carries something soon. */
  private static final int PAUSES_DOUBLED_MAX = 3;

  /** The longest time that an answer took counts less with each that takes less: by an eighth. */
  private static final int FADING_SHIFT = 3;

  /** So many are offered at a time: each takes some ways there and back. */
  private static final int OPEN_MAX = 16;

  private final Consumer<Frame> sends;
  private final LinkWindow window;
  private final ReplicationContext around;

  /** The last of the stream's frames of updates that was sent, and of those that have come. */
  private long sentSequence;

  private long cameSequence;
  private long epoch;
  private long number;

  /** Objects that are to be offered, in their order. */
  private final LinkedHashSet<ObjectId> waiting = new LinkedHashSet<>();

  private final LinkedHashMap<ObjectId, OpenOffer> open = new LinkedHashMap<>();

  /** The sizes of those. */
  private long openBytes;

  /** Of those, what is said with each offer. */
  private long openHeadBytes;

  /** How long it takes at most, of late, until the peer asks for more than it was answered. */
  private long answerNanos;

  /** Requests that wait for the window, at most one of each object that is offered. */
  private final LinkedHashMap<ObjectId, Frame.Pull> asked = new LinkedHashMap<>();

  private final Map<ObjectId, Pulled> pulled = new HashMap<>();

  /** Objects that the peer did not pull. */
  private final Set<ObjectId> leftAlone = new HashSet<>();

  /**
   * A version that the peer has pulled.
   *
   * @param tick all that was shipped up to this one is in it
   * @param last this datacenter's last commit number in it
   */
  record Pulled(long tick, long last) {}

  /**
   * @param sends to the peer
   * @param window of the link, as far as the stream may have of it
   */
  StateOffers(Consumer<Frame> sends, LinkWindow window, ReplicationContext around) {
    this.sends = sends;
    this.window = window;
    this.around = around;
  }

  /** The stream begins anew. */
  void begin(long newEpoch) {
    epoch = newEpoch;
    number = 0;
    sentSequence = 0;
    cameSequence = 0;
    interrupted();
    pulled.clear();
    leftAlone.clear();
  }

  /** A frame of updates is sent. */
  void sent(long sequence) {
    sentSequence = sequence;
  }

  /** The frames of updates up to this one have come. */
  void came(long sequence) {
    cameSequence = Math.max(cameSequence, sequence);
  }

  /** Nothing can be sent to the peer. */
  void interrupted() {
    closeAll();
    waiting.clear();
  }

  /** Before others: the peer has some of it, which takes the room that others may need. */
  private void offerAnew(ObjectId object) {
    waiting.addFirst(object);
  }

  private void closeAll() {
    open.values().forEach(this::haveCome);
    open.clear();
    openBytes = 0;
    openHeadBytes = 0;
    asked.clear();
  }

  /** The entries that were under way are there, or are given up. */
  private void haveCome(OpenOffer what) {
    if (what.underWayBytes > 0) {
      window.give(what.underWayBytes);
      what.underWayBytes = 0;
    }
  }

  /** A scan of all objects begins: the shipped log has only what is shipped from now on. */
  void scanBegins() {
    pulled.clear();
    open.sequencedKeySet().reversed().forEach(this::offerAnew);
    closeAll();
  }

  /** Whether the peer is still to pull something. */
  boolean isPending() {
    return !waiting.isEmpty() || !open.isEmpty();
  }

  /** Whether the peer is still to pull an object. */
  boolean isPending(ObjectId object) {
    return waiting.contains(object) || open.containsKey(object);
  }

  /**
   * Whether a state is offered instead of being shipped; from then on it {@link #isPending}.
   *
   * @param state the object's, or a former one
   */
  boolean takes(ObjectId object, CrdtState state) {
    if (state.sizeBytes() <= around.settings().pullBytes() || leftAlone.contains(object)) {
      return false;
    }
    CrdtState present = around.replica().state(object);
    if (present == null || !EntryRanges.arePossible(present)) {
      return false;
    }
    pulled.remove(object); // more than that is lacking
    waiting.add(object);
    return true;
  }

  /** What the peer has pulled of an object; null if nothing. */
  @Nullable Pulled pulled(ObjectId object) {
    return pulled.get(object);
  }

  /**
   * Offers what is next, as far as there is room; says once more what is offered, where that or its
   * answer seems to be lost.
   *
   * @param tick the last at which something was shipped
   * @param leftAlone takes objects that are to be looked at again, since they cannot be pulled
   */
  void tick(long tick, Consumer<ObjectId> leftAlone, long nowNanos) {
    answerAsked(nowNanos);
    for (OpenOffer what : List.copyOf(open.values())) {
      if (nowNanos >= dueNanos(what)) {
        what.repeats++;
        what.attempts += (!asked.containsKey(what.object) && cameSequence >= what.behind) ? 1 : 0;
        what.saidNanos = nowNanos;
        if (what.attempts > ATTEMPTS_MAX) {
          close(what);
          leaveAlone(what.object, leftAlone);
        } else {
          say(what);
        }
      }
    }
    while (mayOpen()) {
      ObjectId object = waiting.iterator().next();
      waiting.remove(object);
      CrdtState state = around.replica().state(object);
      if (state == null || !EntryRanges.arePossible(state)) {
        leaveAlone(object, leftAlone);
      } else {
        number++;
        OfferedVersion version = new OfferedVersion(object, state, around);
        OpenOffer what = new OpenOffer(number, version, tick, sentSequence, nowNanos);
        open.put(object, what);
        openBytes += state.sizeBytes();
        openHeadBytes += version.headBytes();
        say(what);
      }
    }
  }

  private boolean mayOpen() {
    return !waiting.isEmpty()
        && (open.isEmpty()
            || (open.size() < OPEN_MAX
                && openHeadBytes < around.settings().frameBytes()
                && openBytes < around.settings().memory().waiting()));
  }

  private void leaveAlone(ObjectId object, Consumer<ObjectId> leftAlone) {
    this.leftAlone.add(object);
    leftAlone.accept(object);
  }

  private void close(OpenOffer what) {
    haveCome(what);
    asked.remove(what.object);
    open.remove(what.object);
    openBytes -= what.version.sizeBytes();
    openHeadBytes -= what.version.headBytes();
  }

  private void say(OpenOffer what) {
    // So that it stays the same while it is pulled.
    boolean unused = what.version.hold();
    what.saidNumber = what.nextNumber();
    sends.accept(what.version.offer(epoch, what.saidNumber));
  }

  /** When {@link #tick} has something to do; Long.MAX_VALUE if nothing. */
  long dueNanos() {
    if (mayOpen() || (!asked.isEmpty() && window.isOpen())) {
      return Long.MIN_VALUE;
    }
    long due = Long.MAX_VALUE;
    for (OpenOffer what : open.values()) {
      due = Math.min(due, dueNanos(what));
    }
    return due;
  }

  private long dueNanos(OpenOffer what) {
    // Not later, though it be this side's turn: the peer would take it for forgotten.
    long pauseMax = around.retryNanos() << PAUSES_DOUBLED_MAX;
    return what.saidNanos
        + (asked.containsKey(what.object)
            ? pauseMax
            : Math.min(pauseNanos(what.repeats), pauseMax));
  }

  /** How long to wait for what comes next, when so much was said in vain. */
  private long pauseNanos(int repeats) {
    int doubled = Math.min(repeats, PAUSES_DOUBLED_MAX);
    return Math.max(around.retryNanos(), 2 * answerNanos) << doubled;
  }

  /** Whether one of an offer's numbers is later than another one: by what a byte has of both. */
  private static boolean isLater(long number, long than) {
    return (byte) (number - than) > 0;
  }

  /**
   * Answers a request.
   *
   * @return the object that the peer has all of now, as it was offered; null if it has not
   */
  @Nullable ObjectId pull(Frame.Pull pull, long nowNanos) {
    OpenOffer what = open.get(pull.object());
    if (what == null
        || pull.epoch() != epoch
        || pull.number() >>> Frame.Offer.TIMES_BITS != what.number) {
      return null; // late
    }
    what.saidNanos = nowNanos;
    // Who pulls one may let others wait.
    open.values().forEach(each -> each.attempts = 0);
    what.repeats = 0;
    if (pull.done()) {
      pulled.put(what.object, new Pulled(what.tick, what.version.last()));
      close(what);
      return what.object;
    }
    Frame.Pull waits = asked.get(what.object);
    if (waits != null && pull.asksSame(waits)) {
      return null; // for the window
    }
    if (what.answered == null || !pull.asksSame(what.answered)) {
      noteTime(what, nowNanos);
    } else if (!isLater(pull.number(), what.answeredNumber)) {
      return null; // the answer is under way
    }
    haveCome(what); // or was lost
    asked.put(what.object, pull);
    answerAsked(nowNanos);
    return null;
  }

  /** Notes how long the last answer took. */
  private void noteTime(OpenOffer what, long nowNanos) {
    if (what.answered != null) {
      long took = nowNanos - what.answeredNanos;
      answerNanos = Math.max(took, answerNanos - (answerNanos >> FADING_SHIFT));
    }
  }

  /** Answers requests in their order, as far as the window allows. */
  private void answerAsked(long nowNanos) {
    while (!asked.isEmpty() && window.isOpen()) {
      Frame.Pull pull = asked.pollFirstEntry().getValue();
      OpenOffer what = requireNonNull(open.get(pull.object()), "what was closed is not asked for");
      if (what.version.hold()) {
        answer(what, pull, nowNanos);
      } else {
        close(what); // the version is lost: another one is offered, with which the peer goes on
        offerAnew(what.object);
      }
    }
  }

  private void answer(OpenOffer what, Frame.Pull pull, long nowNanos) {
    what.answered = pull;
    what.answeredNanos = nowNanos;
    what.answeredNumber = what.saidNumber;
    what.saidNanos = nowNanos;
    what.version.answer(pull).ifPresent(frame -> send(what, frame));
  }

  private void send(OpenOffer what, Frame frame) {
    if (frame instanceof Frame.Entries entries) {
      long bytes = around.bytesOf(entries.entries());
      what.underWayBytes += bytes;
      window.take(bytes);
    }
    sends.accept(frame);
  }
}
