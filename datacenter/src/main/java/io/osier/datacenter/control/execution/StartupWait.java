package io.osier.datacenter.control.execution;

import static java.util.Objects.requireNonNull;

import io.osier.datacenter.shard.Keyspaces;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a datacenter wait for the others after its start ({@link StartupWaitRule}), and warns if it
 * follows its stored state alone. Used by the control plane's thread.
 */
final class StartupWait {
  private static final Logger LOG = LoggerFactory.getLogger(StartupWait.class);

  private final Keyspaces keyspaces;
  private final PeerLinks links;
  private final long waitNanos;

  /** Null until the other datacenters are dialled. */
  private volatile @Nullable StartupWaitRule waitRule;

  /** See {@link Control#isKnown}. */
  private volatile boolean known;

  /** Whether the log has a warning that no datacenter was heard. */
  private boolean saidAlone;

  /**
   * @param waitNanos the longest wait, see {@link StartupWaitRule}
   */
  StartupWait(Keyspaces keyspaces, PeerLinks links, long waitNanos) {
    this.keyspaces = keyspaces;
    this.links = links;
    this.waitNanos = waitNanos;
  }

  /**
   * The store's keyspaces are open. If the store knew no holders, other datacenters may hold what
   * the configuration places here, so such keyspaces are not read yet.
   *
   * @return whether there is no datacenter to wait for
   */
  boolean recovered(boolean isAlone, boolean knewHolders) {
    known = isAlone;
    keyspaces.awaitHolders(!isAlone && !knewHolders);
    return known;
  }

  /** The control plane has begun to follow the contents of {@code _osier} here. */
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

  /** The other datacenters are being dialled. */
  void start() {
    waitRule = new StartupWaitRule(System.nanoTime(), waitNanos);
  }

  /** Returns whether the waiting is over. */
  boolean mayBegin() {
    return isOver(requireNonNull(waitRule, "set before the plane looks"));
  }

  private boolean isOver(StartupWaitRule rule) {
    boolean isHeldOff = links.isHeld();
    long now = System.nanoTime();
    if (rule.partitionsWait(isHeldOff, now)) {
      keyspaces.awaitPeers();
    }
    return rule.isOver(keyspaces.heard(), isHeldOff, now);
  }

  /** Returns whether another datacenter was heard since the start, or there is none. */
  boolean hasHeard() {
    StartupWaitRule rule = requireNonNull(waitRule, "set before the plane looks");
    if (rule.isAlone()) {
      isOver(rule);
    }
    if (rule.isAlone() != saidAlone) {
      saidAlone = !saidAlone;
      if (saidAlone) {
        warnings().forEach(LOG::warn);
      } else {
        LOG.info("this datacenter has heard from the others now");
      }
    }
    return !saidAlone;
  }

  /** Returns a warning if no other datacenter was heard; otherwise nothing. For any thread. */
  List<String> warnings() {
    StartupWaitRule rule = waitRule;
    return rule != null && rule.isAlone()
        ? List.of(
            "no other datacenter has answered since this one started: it uses the keyspaces, users"
                + " and datacenters that it has stored, which may be out of date")
        : List.of();
  }
}
