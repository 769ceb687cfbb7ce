package io.osier.datacenter.store.objects;

import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.store.ObjectStore;
import io.osier.propagation.host.StoredObjects.Entry;
import io.osier.propagation.host.StoredObjects.Page;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads ahead, in other threads, what a partition's catching up needs: pages of scans, which are
 * kept here, and single objects, which go into the cache. Only for the partition's thread, which is
 * woken when a read has ended. A page that cannot be read, or was changed by too many updates
 * meanwhile, is read by the partition itself.
 */
final class ReadAhead {
  private static final Logger LOG = LoggerFactory.getLogger(ReadAhead.class);

  /** The most pages that are kept: one for each peer that scans. */
  private static final int PAGES_MAX = 16;

  /** If more keys than this change while a page is read, it is read again. */
  private static final int CHANGED_MAX = 4_096;

  /** The most keys that are remembered as brought into the cache. */
  private static final int BROUGHT_MAX = 4_096;

  /** A page that is being read, or was read. */
  private static final class PageRead {
    final Set<Key> changed = new HashSet<>();
    boolean isVoid;
    volatile boolean done;

    /** The page; null if it could not be read; written before {@link #done}. */
    private @Nullable Page page;
  }

  private final StoreScan scan;
  private final ObjectCache objects;
  private final Executor readers;
  private final Map<Optional<ObjectId>, PageRead> reads = new LinkedHashMap<>();
  private final Set<Key> brought = new HashSet<>();
  private volatile boolean bringing;
  private volatile Runnable wake = () -> {};

  ReadAhead(StoreScan scan, ObjectCache objects, Executor readers) {
    this.scan = scan;
    this.objects = objects;
    this.readers = readers;
  }

  /** Sets how the partition is woken when a read has ended. */
  void attach(Runnable wake) {
    this.wake = wake;
  }

  /** Notes that a key was changed: pages that were being read have an old state of it. */
  void changed(Key key) {
    for (PageRead pageRead : reads.values()) {
      if (pageRead.changed.size() < CHANGED_MAX) {
        pageRead.changed.add(key);
      } else {
        pageRead.isVoid = true;
      }
    }
  }

  /** See {@link ObjectStore#page}. */
  Optional<Page> page(Optional<ObjectId> after, int limit, long bytesMax) {
    PageRead pageRead = reads.get(after);
    if (pageRead == null) {
      pageRead = new PageRead();
      reads.put(after, pageRead);
      if (reads.size() > PAGES_MAX) {
        reads.remove(reads.keySet().iterator().next());
      }
      read(pageRead, after, limit, bytesMax);
    }
    if (!pageRead.done) {
      return Optional.empty();
    }
    reads.remove(after);
    Page read = pageRead.page;
    if (read != null && !pageRead.isVoid) {
      Page page = present(after, read, pageRead.changed);
      if (page.end() || !page.entries().isEmpty()) { // an empty page would be no progress
        return Optional.of(page);
      }
    }
    return Optional.of(scan.page(after, limit, bytesMax));
  }

  private void read(PageRead pageRead, Optional<ObjectId> after, int limit, long bytesMax) {
    try {
      readers.execute(
          () -> {
            try {
              pageRead.page = scan.page(after, limit, bytesMax);
            } catch (OsierException e) {
              // The partition reads the page itself and gets the error then.
              LOG.debug("reading a page ahead failed", e);
            } finally {
              pageRead.done = true;
              wake.run();
            }
          });
    } catch (RejectedExecutionException e) {
      pageRead.done = true; // the readers have been shut down
    }
  }

  /** Returns a page that was read, with the present states of changed keys. */
  private Page present(Optional<ObjectId> after, Page read, Set<Key> changed) {
    TreeMap<ObjectId, CrdtState> found = new TreeMap<>();
    for (Entry e : read.entries()) {
      if (!changed.contains(e.object().key())) {
        found.put(e.object(), e.state());
      }
    }
    Optional<ObjectId> last =
        read.end() ? Optional.empty() : Optional.of(read.entries().getLast().object());
    for (Key key : changed) { // also objects that did not exist when the page was read
      for (CrdtState state : objects.peek(key)) {
        ObjectId object = new ObjectId(key, state.type());
        if (StoreScan.isWithin(object, after, last)) {
          found.put(object, state);
        }
      }
    }
    return StoreScan.page(found, read.end());
  }

  /** See {@link ObjectStore#areAtHand}. */
  boolean areAtHand(List<ObjectId> wanted) {
    Set<Key> cold = new HashSet<>();
    for (ObjectId object : wanted) {
      if (!objects.isCached(object.key())) {
        cold.add(object.key());
      }
    }
    if (cold.isEmpty()) {
      return true;
    }
    if (bringing) {
      return false;
    }
    if (brought.containsAll(cold)) {
      brought.removeAll(cold); // evicted again: it is read where it is needed
      return true;
    }
    if (brought.size() > BROUGHT_MAX) {
      brought.clear();
    }
    brought.addAll(cold);
    return bring(cold);
  }

  /** Catches errors: an unreadable object must not keep others from being read. */
  private void prefetch(Key key) {
    try {
      objects.prefetch(key);
    } catch (OsierException e) {
      LOG.debug("reading ahead failed", e);
    }
  }

  private boolean bring(Set<Key> cold) {
    bringing = true;
    try {
      readers.execute(
          () -> {
            try {
              cold.forEach(this::prefetch);
            } finally {
              bringing = false;
              wake.run();
            }
          });
    } catch (RejectedExecutionException e) {
      bringing = false;
    }
    return !bringing;
  }
}
