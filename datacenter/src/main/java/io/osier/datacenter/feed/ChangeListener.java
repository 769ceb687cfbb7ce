package io.osier.datacenter.feed;

import io.osier.core.Key;
import java.util.List;

/**
 * Hears of a keyspace's changes at once, whatever a watcher would be told later: before whoever has
 * made a change is answered, and after everybody can read it. It is called by what lets a
 * partition's answers go, so it must neither wait nor run others' code.
 */
public interface ChangeListener {
  /**
   * A key has changed, or something of it has expired.
   *
   * @param author who has changed it, of those who want to know their own; 0 of all others
   */
  record Changed(Key key, long author) {}

  boolean isWanted();

  /** It may have missed changes; of those that come from now on in a partition it hears. */
  void missed();

  /** These have changed, together, in the order in which they did. */
  void changed(List<Changed> keys);
}
