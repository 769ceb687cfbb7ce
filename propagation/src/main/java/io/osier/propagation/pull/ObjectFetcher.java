package io.osier.propagation.pull;

import io.osier.crdt.ObjectId;
import io.osier.propagation.wire.Frame;
import java.util.List;
import java.util.Optional;

/**
 * Fetches from a peer the states of objects in whose updates something is missing. There is one
 * request at a time, for a few objects, and the peer answers for as many of them as fit in a page:
 * neither side keeps more than that, however many objects are missing. Not thread-safe.
 */
public final class ObjectFetcher {
  /** The most objects that one request asks for. */
  public static final int OBJECTS_MAX = 256;

  private final RequestRetry asking;
  private List<ObjectId> open = List.of();

  public ObjectFetcher(RequestRetry asking) {
    this.asking = asking;
  }

  /** Whether no request is open. */
  public boolean isIdle() {
    return !asking.isOpen();
  }

  public Frame.Fetch fetch(List<ObjectId> objects, long nowNanos) {
    open = List.copyOf(objects);
    return new Frame.Fetch(asking.ask(nowNanos), open);
  }

  /** Whether to repeat the request. */
  public boolean isDue(long heardNanos) {
    return asking.isDue(heardNanos);
  }

  public Frame.Fetch again(long nowNanos) {
    return new Frame.Fetch(asking.askAgain(nowNanos), open);
  }

  /** Notes that a part of an answer was received. Returns whether it was expected. */
  public boolean comes(Frame.States states, long nowNanos) {
    return asking.comes(states.request(), nowNanos);
  }

  /** Notes that the rest of the answer will not come. */
  public void comesNot() {
    asking.comesNot();
  }

  /** Takes an answer whose states were applied. Returns the next request, if objects are left. */
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

  /** Drops the request, since frames to or from the peer may have been lost. */
  public void down() {
    asking.cancel();
    open = List.of();
  }
}
