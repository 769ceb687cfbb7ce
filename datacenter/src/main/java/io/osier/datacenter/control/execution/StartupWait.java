package io.osier.datacenter.control.execution;

import static java.util.Objects.requireNonNull;

import io.osier.datacenter.shard.Keyspaces;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets a datacenter wait for the others after its start ({@link FirstWord}), and says if it goes by
 * what it stored alone. Used by the control plane's thread.
 */
final class StartupWait {
  private static final Logger LOG = LoggerFactory.getLogger(StartupWait.class);

  private final Keyspaces keyspaces;
  private final PeerLinks links;
  private final long waitNanos;

  /** Null before the others are dialled. */
  private volatile @Nullable FirstWord firstWord;

  /** See {@link Control#isKnown}. */
  private volatile boolean known;

  /** Whether it was said that nobody was heard. */
  private boolean saidAlone;

  /**
   * @param waitNanos how long to wait at most, see {@link FirstWord}
   */
  StartupWait(Keyspaces keyspaces, PeerLinks links, long waitNanos) {
    this.keyspaces = keyspaces;
    this.links = links;
    this.waitNanos = waitNanos;
  }

  /**
   * What the store knew is open. If it knew nothing, others may have become the holders of what the
   * configuration has here, and that is not read yet.
   *
   * @return whether there is nobody to wait for
   */
  boolean recovered(boolean isAlone, boolean knewHolders) {
    known = isAlone;
    keyspaces.awaitHolders(!isAlone && !knewHolders);
    return known;
  }

  /** The plane has begun: what is here now is what is known. */
  void goesByWhatIsHere() {
    if (!known) {
      keyspaces.awaitHolders(false);
      known = true;
    }
  }

  /** See {@link Control#isKnown}. For any thread. */
  boolean isKnown() {
    return known;
  }

  /** The others are being dialled. */
  void start() {
    firstWord = new FirstWord(System.nanoTime(), waitNanos);
  }

  /** Whether to wait no longer. */
  boolean mayBegin() {
    return knows(requireNonNull(firstWord, "set before the plane looks"));
  }

  private boolean knows(FirstWord first) {
    boolean isHeld = links.isHeld();
    long now = System.nanoTime();
    if (first.awaits(isHeld, now)) {
      keyspaces.awaitPeers();
    }
    return first.knows(keyspaces.heard(), isHeld, now);
  }

  /** Whether somebody was heard since the start, or there is nobody. */
  boolean hasHeard() {
    FirstWord first = requireNonNull(firstWord, "set before the plane looks");
    if (first.isAlone()) {
      knows(first);
    }
    if (first.isAlone() != saidAlone) {
      saidAlone = !saidAlone;
      if (saidAlone) {
        warnings().forEach(LOG::warn);
      } else {
        LOG.info("the other datacenters are heard now");
      }
    }
    return !saidAlone;
  }

  /** That nobody was heard, in words; nothing if that is not so. For any thread. */
  List<String> warnings() {
    FirstWord first = firstWord;
    return first != null && first.isAlone()
        ? List.of(
            "no other datacenter has told this one since its start what was changed meanwhile: it"
                + " goes by the keyspaces, users and datacenters that it stored")
        : List.of();
  }
}
