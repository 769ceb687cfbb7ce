package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Optional;

/**
 * Fetches from a peer the states of objects in whose updates something is missing. One request is
 * under way at a time, for a few objects, and the peer answers for as many of them as fit in a
 * page: so neither side has more to hold than that, however many are missing. Not thread-safe.
 */
public final class ObjectFetcher {
  /** So many objects are asked for at once. */
  public static final int OBJECTS_MAX = 256;

  private final RequestRetry asking;
  private List<ObjectId> open = List.of();

  public ObjectFetcher(RequestRetry asking) {
    this.asking = asking;
  }

  /** Whether nothing is under way. */
  public boolean isIdle() {
    return !asking.isOpen();
  }

  public Frame.Fetch fetch(List<ObjectId> objects, long nowNanos) {
    open = List.copyOf(objects);
    return new Frame.Fetch(asking.ask(nowNanos), open);
  }

  /** Whether to ask again. */
  public boolean isDue(long heardNanos) {
    return asking.isDue(heardNanos);
  }

  public Frame.Fetch again(long nowNanos) {
    return new Frame.Fetch(asking.askAgain(nowNanos), open);
  }

  /** Whether an answer that has come in part is waited for. */
  public boolean comes(Frame.States states, long nowNanos) {
    return asking.comes(states.request(), nowNanos);
  }

  /** The rest of it does not come. */
  public void comesNot() {
    asking.comesNot();
  }

  /** Takes an answer, whose states were applied. Returns what to ask for now. */
  public Optional<Frame.Fetch> answered(Frame.States states, long nowNanos) {
    if (!asking.answered(states.request(), nowNanos)) {
      return Optional.empty();
    }
    int done = states.next().flatMap(Frame.Page::scanned).map(open::indexOf).orElse(-1) + 1;
    if (done == 0 || done == open.size()) {
      open = List.of();
      return Optional.empty();
    }
    return Optional.of(fetch(open.subList(done, open.size()), nowNanos));
  }

  /** Frames to the peer, or of it, may have been lost. */
  public void down() {
    asking.cancel();
    open = List.of();
  }
}
