package io.osier.datacenter.feed;

import io.osier.core.Key;
import java.util.List;

/**
 * Is told of a keyspace's changes at once, earlier than watchers: after a change is visible to all
 * readers, and before its request is answered. It is called by the thread that releases a
 * partition's answers, so it must neither wait nor run others' code.
 */
public interface ChangeListener {
  /**
   * A key that has changed, or of which something has expired.
   *
   * @param author the number of the author of the change, for those who recognize their own
   *     changes; 0 for all others
   */
  record Changed(Key key, long author) {}

  boolean isWanted();

  /** The listener may have missed changes of a partition; it is told of all later ones. */
  void missed();

  /** These keys have changed together, in this order. */
  void changed(List<Changed> keys);
}
