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
 * Reads for a partition what its catching up will want, by other threads: pages of scans, which are
 * kept here, and single objects, which go into the cache. Only for the partition's thread, which is
 * woken when something was read. What cannot be read, or was changed by too many updates meanwhile,
 * the partition reads itself.
 */
final class ReadAhead {
  private static final Logger LOG = LoggerFactory.getLogger(ReadAhead.class);

  /** More pages than this are not kept: one for each peer that scans. */
  private static final int PAGES_MAX = 16;

  /** With more keys than this changed while it was read, a page is read again. */
  private static final int CHANGED_MAX = 4_096;

  /** More keys than this are not remembered as brought. */
  private static final int BROUGHT_MAX = 4_096;

  /** A page that is being read, or was. */
  private static final class PageRead {
    final Set<Key> changed = new HashSet<>();
    boolean isVoid;
    volatile boolean done;

    /** Null if it could not be read; written before {@link #done}. */
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

  /** From now on the partition is woken so when something was read. */
  void attach(Runnable wake) {
    this.wake = wake;
  }

  /** A key was changed: what was read of it before is old. */
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
      if (page.end() || !page.entries().isEmpty()) { // otherwise it would be no step
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
              // The partition reads it itself, and it is its error then.
              LOG.debug("reading a page ahead failed", e);
            } finally {
              pageRead.done = true;
              wake.run();
            }
          });
    } catch (RejectedExecutionException e) {
      pageRead.done = true; // nobody reads any more
    }
  }

  /** A page as it is now. */
  private Page present(Optional<ObjectId> after, Page read, Set<Key> changed) {
    TreeMap<ObjectId, CrdtState> found = new TreeMap<>();
    for (Entry e : read.entries()) {
      if (!changed.contains(e.object().key())) {
        found.put(e.object(), e.state());
      }
    }
    Optional<ObjectId> last =
        read.end() ? Optional.empty() : Optional.of(read.entries().getLast().object());
    for (Key key : changed) { // objects that were not there when the page was read, too
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

  /** What cannot be read must not keep the others from being read. */
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
