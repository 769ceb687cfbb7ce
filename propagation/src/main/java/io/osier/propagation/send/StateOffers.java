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
 * Offers one peer the large states of which it lacks something, a few at a time, instead of
 * shipping them: the peer pulls the entries that it lacks, by {@link EntryRanges}. This side keeps
 * only the versions that it has offered; how far a pull has come is in the peer's requests.
 *
 * <p>The entries of an answer take of the link's window until the peer's next request for the same
 * object. While the window is spent, requests wait. An answer may be in flight for long, behind
 * other frames. It is sent again only if the peer has received an offer that was sent after it,
 * since a link keeps the order of its frames. Not thread-safe.
 */
final class StateOffers {
  /** A peer that does not react to so many repetitions of an offer is sent the state. */
  private static final int ATTEMPTS_MAX = 16;

  /**
   * The pause between repetitions is doubled this often at most: a link that works again soon
   * carries something.
   */
  private static final int PAUSES_DOUBLED_MAX = 3;

  /** The longest time that an answer took fades by an eighth with each answer that takes less. */
  private static final int FADING_SHIFT = 3;

  /** The number of offers that are open at a time: each takes several round trips. */
  private static final int OPEN_MAX = 16;

  private final Consumer<Frame> sends;
  private final LinkWindow window;
  private final ReplicationContext around;

  /**
   * The sequence of the last frame of updates that was sent; {@link #cameSequence} is the last that
   * has arrived.
   */
  private long sentSequence;

  private long cameSequence;
  private long epoch;
  private long number;

  /** Objects that are to be offered, in this order. */
  private final LinkedHashSet<ObjectId> waiting = new LinkedHashSet<>();

  private final LinkedHashMap<ObjectId, OpenOffer> open = new LinkedHashMap<>();

  /** The sizes of the open versions together, in bytes. */
  private long openBytes;

  /** The bytes that each offer of the open versions takes besides its context. */
  private long openHeadBytes;

  /** How long it took at most, of late, from an answer to the peer's next request. */
  private long answerNanos;

  /** Requests that wait for the window, at most one for each open offer. */
  private final LinkedHashMap<ObjectId, Frame.Pull> waitingPulls = new LinkedHashMap<>();

  private final Map<ObjectId, Pulled> pulled = new HashMap<>();

  /** Objects that the peer has been offered and does not pull. */
  private final Set<ObjectId> leftAlone = new HashSet<>();

  /**
   * A version that the peer has pulled.
   *
   * @param tick the version contains all that was shipped up to this tick
   * @param last this datacenter's last commit number in it
   */
  record Pulled(long tick, long last) {}

  /**
   * @param sends sends a frame to the peer
   * @param window of the link, as far as the stream may use it
   */
  StateOffers(Consumer<Frame> sends, LinkWindow window, ReplicationContext around) {
    this.sends = sends;
    this.window = window;
    this.around = around;
  }

  /** Forgets everything, since the stream begins a new epoch. */
  void begin(long newEpoch) {
    epoch = newEpoch;
    number = 0;
    sentSequence = 0;
    cameSequence = 0;
    interrupted();
    pulled.clear();
    leftAlone.clear();
  }

  /** Notes that a frame of updates is sent. */
  void sent(long sequence) {
    sentSequence = sequence;
  }

  /** Notes that the frames of updates up to this one have arrived. */
  void came(long sequence) {
    cameSequence = Math.max(cameSequence, sequence);
  }

  /** Closes all offers, since nothing can be sent to the peer. */
  void interrupted() {
    closeAll();
    waiting.clear();
  }

  /**
   * Offers an object again before others: the peer has pulled some of it, which takes memory there
   * that other objects may need.
   */
  private void offerAnew(ObjectId object) {
    waiting.addFirst(object);
  }

  private void closeAll() {
    open.values().forEach(this::giveBack);
    open.clear();
    openBytes = 0;
    openHeadBytes = 0;
    waitingPulls.clear();
  }

  /** Gives back the window that entries in flight took: they have arrived, or are given up. */
  private void giveBack(OpenOffer offer) {
    if (offer.inFlightBytes > 0) {
      window.give(offer.inFlightBytes);
      offer.inFlightBytes = 0;
    }
  }

  /**
   * Offers the open objects anew, since a scan of all objects begins: from now on the shipped log
   * has only what is shipped later.
   */
  void scanBegins() {
    pulled.clear();
    open.sequencedKeySet().reversed().forEach(this::offerAnew);
    closeAll();
  }

  /** Whether the peer is still to pull some object. */
  boolean isPending() {
    return !waiting.isEmpty() || !open.isEmpty();
  }

  /** Whether the peer is still to pull this object. */
  boolean isPending(ObjectId object) {
    return waiting.contains(object) || open.containsKey(object);
  }

  /**
   * Whether a state is offered instead of being shipped; if so the object {@link #isPending} from
   * then on.
   *
   * @param state the object's state, or an earlier one
   */
  boolean takes(ObjectId object, CrdtState state) {
    if (state.sizeBytes() <= around.settings().pullBytes() || leftAlone.contains(object)) {
      return false;
    }
    CrdtState present = around.replica().state(object);
    if (present == null || !EntryRanges.arePossible(present)) {
      return false;
    }
    pulled.remove(object); // the peer lacks more than that version has
    waiting.add(object);
    return true;
  }

  /** Returns the version of an object that the peer has pulled; null if it has pulled none. */
  @Nullable Pulled pulled(ObjectId object) {
    return pulled.get(object);
  }

  /**
   * Opens the next offers, as far as there is room, and repeats offers where the offer or its
   * answer seems to be lost.
   *
   * @param tick the tick at which something was last shipped
   * @param leftAlone takes objects that are to be looked at again, since they cannot be pulled
   */
  void tick(long tick, Consumer<ObjectId> leftAlone, long nowNanos) {
    answerAsked(nowNanos);
    for (OpenOffer offer : List.copyOf(open.values())) {
      if (nowNanos >= dueNanos(offer)) {
        offer.repeats++;
        offer.attempts +=
            (!waitingPulls.containsKey(offer.object) && cameSequence >= offer.behind) ? 1 : 0;
        offer.saidNanos = nowNanos;
        if (offer.attempts > ATTEMPTS_MAX) {
          close(offer);
          leaveAlone(offer.object, leftAlone);
        } else {
          sendOffer(offer);
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
        OpenOffer offer = new OpenOffer(number, version, tick, sentSequence, nowNanos);
        open.put(object, offer);
        openBytes += state.sizeBytes();
        openHeadBytes += version.headBytes();
        sendOffer(offer);
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

  private void close(OpenOffer offer) {
    giveBack(offer);
    waitingPulls.remove(offer.object);
    open.remove(offer.object);
    openBytes -= offer.version.sizeBytes();
    openHeadBytes -= offer.version.headBytes();
  }

  private void sendOffer(OpenOffer offer) {
    // The version must stay the same while it is pulled.
    boolean unused = offer.version.hold();
    offer.sentNumber = offer.nextNumber();
    sends.accept(offer.version.offer(epoch, offer.sentNumber));
  }

  /** Returns when {@link #tick} has something to do; Long.MAX_VALUE if never. */
  long dueNanos() {
    if (mayOpen() || (!waitingPulls.isEmpty() && window.isOpen())) {
      return Long.MIN_VALUE;
    }
    long due = Long.MAX_VALUE;
    for (OpenOffer offer : open.values()) {
      due = Math.min(due, dueNanos(offer));
    }
    return due;
  }

  private long dueNanos(OpenOffer offer) {
    // Not later, even where a request waits here for the window: the peer would take the offer for
    // forgotten.
    long pauseMax = around.retryNanos() << PAUSES_DOUBLED_MAX;
    return offer.saidNanos
        + (waitingPulls.containsKey(offer.object)
            ? pauseMax
            : Math.min(pauseNanos(offer.repeats), pauseMax));
  }

  /** Returns how long to wait for the next request, after so many repetitions without one. */
  private long pauseNanos(int repeats) {
    int doubled = Math.min(repeats, PAUSES_DOUBLED_MAX);
    return Math.max(around.retryNanos(), 2 * answerNanos) << doubled;
  }

  /**
   * Whether one of an offer's numbers was given after another one, judged by the last byte of both.
   */
  private static boolean isLater(long number, long than) {
    return (byte) (number - than) > 0;
  }

  /**
   * Answers a request, or queues it until the window has room.
   *
   * @return the object, if the peer reports that it has all of the offered version; otherwise null
   */
  @Nullable ObjectId pull(Frame.Pull pull, long nowNanos) {
    OpenOffer offer = open.get(pull.object());
    if (offer == null
        || pull.epoch() != epoch
        || pull.number() >>> Frame.Offer.TIMES_BITS != offer.number) {
      return null; // outdated
    }
    offer.saidNanos = nowNanos;
    // A peer that pulls one object may let others wait.
    open.values().forEach(each -> each.attempts = 0);
    offer.repeats = 0;
    if (pull.done()) {
      pulled.put(offer.object, new Pulled(offer.tick, offer.version.last()));
      close(offer);
      return offer.object;
    }
    Frame.Pull waits = waitingPulls.get(offer.object);
    if (waits != null && pull.asksSame(waits)) {
      return null; // the request waits for the window
    }
    if (offer.answered == null || !pull.asksSame(offer.answered)) {
      noteTime(offer, nowNanos);
    } else if (!isLater(pull.number(), offer.answeredNumber)) {
      return null; // the answer is in flight
    }
    giveBack(offer); // the former answer has arrived, or was lost
    waitingPulls.put(offer.object, pull);
    answerAsked(nowNanos);
    return null;
  }

  /** Notes how long it took from the last answer to this request. */
  private void noteTime(OpenOffer offer, long nowNanos) {
    if (offer.answered != null) {
      long took = nowNanos - offer.answeredNanos;
      answerNanos = Math.max(took, answerNanos - (answerNanos >> FADING_SHIFT));
    }
  }

  /** Answers requests in their order, as far as the window allows. */
  private void answerAsked(long nowNanos) {
    while (!waitingPulls.isEmpty() && window.isOpen()) {
      Frame.Pull pull = waitingPulls.pollFirstEntry().getValue();
      OpenOffer offer = requireNonNull(open.get(pull.object()), "what was closed is not asked for");
      if (offer.version.hold()) {
        answer(offer, pull, nowNanos);
      } else {
        close(offer); // the version is lost; the peer goes on with a new one
        offerAnew(offer.object);
      }
    }
  }

  private void answer(OpenOffer offer, Frame.Pull pull, long nowNanos) {
    offer.answered = pull;
    offer.answeredNanos = nowNanos;
    offer.answeredNumber = offer.sentNumber;
    offer.saidNanos = nowNanos;
    offer.version.answer(pull).ifPresent(frame -> send(offer, frame));
  }

  private void send(OpenOffer offer, Frame frame) {
    if (frame instanceof Frame.Entries entries) {
      long bytes = around.bytesOf(entries.entries());
      offer.inFlightBytes += bytes;
      window.take(bytes);
    }
    sends.accept(frame);
  }
}
