package io.osier.datacenter.forward;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Changes of keyspaces that others hold, for who must hear of all of them: one watcher for each
 * keyspace, at the holder that is asked for all else. What another holder answers meanwhile may be
 * older than what was told already, so its keys are told as if they had changed. Where the holder
 * changes, or something may have been missed, the listener is told so. Thread-safe; others are
 * called without a lock, but {@link ChangeListener#isWanted}.
 */
public final class ChangesElsewhere implements AnswerWitness {
  /** So long a holder without a change takes to answer. */
  static final int WAIT_MILLIS = 20_000;

  /** So long after a failure a holder is asked anew. */
  static final int RETRY_MILLIS = 1_000;

  /** The watcher of one keyspace; under its owner's lock, but what is final. */
  private static final class Watched {
    final String keyspace;
    final ChangeListener hears;

    /** Who is asked; null while nobody is. */
    @Nullable String dc;

    /** Whether that one has answered, so that nothing is missed since. */
    boolean isHeard;

    /** Counts how often it has begun, so that answers of former times are told from others. */
    long round;

    boolean retries;

    Watched(String keyspace, ChangeListener hears) {
      this.keyspace = keyspace;
      this.hears = hears;
    }

    void stop() {
      dc = null;
      isHeard = false;
      round++;
    }
  }

  private final Forwarder forwarder;
  private final ForwardingHost around;
  private final Map<String, Watched> all = new ConcurrentHashMap<>();

  public ChangesElsewhere(Forwarder forwarder, ForwardingHost around) {
    this.forwarder = forwarder;
    this.around = around;
  }

  /**
   * Somebody hears of all changes of a keyspace that is not held here, as long as it wants to.
   *
   * @return whether it does already, or there is no such keyspace; otherwise it will soon, and is
   *     told that it has missed some
   * @throws OsierException UNAVAILABLE if no holder is in reach; it will hear once one is
   */
  public boolean listen(String keyspace, ChangeListener hears) {
    if (forwarder.holders(keyspace).isEmpty()) {
      end(keyspace);
      return true;
    }
    Watched of;
    synchronized (this) {
      of = all.computeIfAbsent(keyspace, k -> new Watched(k, hears));
      if (of.isHeard) {
        return true;
      }
    }
    begin(of);
    if (forwarder.holder(keyspace).isEmpty()) {
      throw new OsierException(
          ErrorCode.UNAVAILABLE,
          "keyspace '"
              + keyspace
              + "' cannot be watched: none of the datacenters that hold it can be reached");
    }
    return false;
  }

  /** A keyspace is not held by others alone: what was heard of there may be missed from now on. */
  public void end(String keyspace) {
    if (all.isEmpty()) {
      return;
    }
    Watched of;
    synchronized (this) {
      of = all.remove(keyspace);
      if (of == null) {
        return;
      }
      of.stop();
    }
    of.hears.missed();
  }

  // ---------------------------------------------------------------- asking

  /** Begins to ask, unless that is under way, or nobody wants it any more. */
  private void begin(Watched of) {
    if (forwarder.holders(of.keyspace).isEmpty()) {
      end(of.keyspace); // it is gone
      return;
    }
    String dc = forwarder.holder(of.keyspace).orElse(null);
    long round;
    synchronized (this) {
      if (of.dc != null || all.get(of.keyspace) != of || endsUnwanted(of)) {
        return;
      }
      of.dc = dc;
      round = ++of.round;
    }
    if (dc == null) {
      beginLater(of);
    } else {
      ask(of, dc, round, List.of());
    }
  }

  private void beginLater(Watched of) {
    synchronized (this) {
      if (of.retries) {
        return;
      }
      of.retries = true;
    }
    around.later(
        () -> {
          synchronized (this) {
            of.retries = false;
          }
          begin(of);
        },
        RETRY_MILLIS);
  }

  /** Under the lock, as is who begins to hear: so nobody counts on a watcher that ends. */
  private boolean endsUnwanted(Watched of) {
    boolean ends = !of.hears.isWanted();
    if (ends) {
      all.remove(of.keyspace, of);
      of.stop();
    }
    return ends;
  }

  private void ask(Watched of, String dc, long round, List<WatchRequest.Place> places) {
    int wait = places.isEmpty() ? 0 : WAIT_MILLIS;
    Request asked = new WatchRequest(of.keyspace, Optional.empty(), true, places, false, wait);
    forwarder
        .own()
        .ask(
            dc,
            out -> ProtocolCodec.writeBody(out, asked),
            wait,
            answer -> answered(of, dc, round, changes(answer)));
  }

  /** What was told; null if it was not. */
  private static Reply.@Nullable Changes changes(@Nullable WireInput answer) {
    try {
      return answer != null && ProtocolCodec.decodeReplyBody(answer) instanceof Reply.Changes told
          ? told
          : null;
    } catch (MalformedException e) {
      return null;
    }
  }

  private void answered(Watched of, String dc, long round, Reply.@Nullable Changes told) {
    boolean begins;
    synchronized (this) {
      if (of.round != round || endsUnwanted(of)) {
        return;
      }
      begins = !of.isHeard;
      if (told == null) {
        of.stop();
      } else {
        of.isHeard = true;
      }
    }
    if (told == null || begins) {
      of.hears.missed();
    } else if (!told.changes().isEmpty()) {
      changed(of, told.changes().stream().map(Reply.Change::key).toList());
    }
    if (told == null) {
      beginLater(of);
    } else {
      ask(of, dc, round, told.places());
    }
  }

  private static void changed(Watched of, List<Key> keys) {
    of.hears.changed(keys.stream().map(key -> new ChangeListener.Changed(key, 0)).toList());
  }

  // ---------------------------------------------------------------- what is forwarded

  /** Tells what an update has changed, before it is answered, and what may be old. */
  @Override
  public void answered(
      String dc, Request request, Optional<Integer> partition, Reply reply, int size) {
    String keyspace = Forwardable.keyspace(request).orElse("");
    Watched of = all.get(keyspace);
    List<Key> keys = Forwardable.keys(request);
    if (of == null || keys.isEmpty() || reply instanceof Reply.Failure) {
      return;
    }
    boolean isAsked;
    boolean isHeard;
    synchronized (this) {
      isAsked = of.dc == null || of.dc.equals(dc);
      isHeard = of.isHeard;
    }
    if (request.isUpdate() || !isAsked || !isHeard) {
      changed(of, keys);
    }
    if (!isAsked && forwarder.holder(keyspace).filter(dc::equals).isPresent()) {
      moves(of, dc);
    }
  }

  /** Another holder is asked from now on, since all else is asked there. */
  private void moves(Watched of, String to) {
    synchronized (this) {
      if (of.dc == null || of.dc.equals(to)) {
        return; // another thread was first
      }
      of.stop();
    }
    of.hears.missed();
    begin(of);
  }
}
