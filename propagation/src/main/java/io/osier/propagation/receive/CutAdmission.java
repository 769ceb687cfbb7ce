package io.osier.propagation.receive;

import static java.util.Objects.requireNonNull;

import io.osier.core.VersionVector;
import io.osier.propagation.receive.CutQueue.Cut;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides which closed cuts become visible now: a cut is admitted when everything that it depends
 * on is visible or is admitted together with it. A pure function.
 *
 * <p>Why together? If an origin is out of reach, a third datacenter sends its states. They depend
 * on that datacenter's own updates, which depend on the origin's: neither can come first. So if no
 * cut can be admitted alone, the largest set of cuts is admitted that depend only on visible
 * updates and on each other.
 */
final class CutAdmission {
  private CutAdmission() {}

  /**
   * Returns the cuts that can be admitted, in the order in which they are to be applied.
   *
   * @param queues each of their cuts depends on all that the cuts before it depend on; they are not
   *     changed
   * @param here the present cut, this datacenter's own updates included
   */
  static List<Cut> admissible(Collection<CutQueue> queues, VersionVector here) {
    List<Waiting> waiting = new ArrayList<>();
    for (CutQueue queue : queues) {
      if (!queue.cuts.isEmpty()) {
        waiting.add(new Waiting(queue.cuts.iterator()));
      }
    }
    List<Cut> admitted = new ArrayList<>();
    VersionVector cut = here;
    while (!waiting.isEmpty()) {
      int before = admitted.size();
      for (Waiting queue : waiting) {
        while (queue.first != null && queue.first.isNext(cut)) {
          cut = queue.first.raise(cut);
          admitted.add(queue.first);
          queue.advance();
        }
      }
      waiting.removeIf(queue -> queue.first == null);
      if (admitted.size() == before) {
        List<Cut> together = together(waiting, cut);
        if (together.isEmpty()) {
          break;
        }
        cut = raised(cut, together);
        admitted.addAll(together);
      }
    }
    return admitted;
  }

  /** The cuts of a queue that are not admitted yet. */
  private static final class Waiting {
    private Iterator<Cut> later;
    private @Nullable Cut first;

    Waiting(Iterator<Cut> cuts) {
      later = cuts;
      advance();
    }

    private void advance() {
      first = later.hasNext() ? later.next() : null;
    }

    private List<Cut> takeAll() {
      List<Cut> all = new ArrayList<>();
      for (; first != null; advance()) {
        all.add(requireNonNull(first));
      }
      return all;
    }

    private void putBack(List<Cut> cuts) {
      later = cuts.iterator();
      advance();
    }
  }

  /** Returns the largest set of cuts that depend only on the present cut and on each other. */
  private static List<Cut> together(List<Waiting> waiting, VersionVector cut) {
    if (waiting.size() < 2) {
      return List.of(); // a single queue has been tried already
    }
    List<List<Cut>> all = waiting.stream().map(Waiting::takeAll).toList();
    List<List<Cut>> prefixes = new ArrayList<>(all);
    boolean shrunk = true;
    while (shrunk) {
      shrunk = false;
      VersionVector with = cut;
      for (List<Cut> prefix : prefixes) {
        with = raised(with, prefix);
      }
      for (int i = 0; i < prefixes.size(); i++) {
        List<Cut> prefix = prefixes.get(i);
        int size = prefix.size();
        while (size > 0 && !prefix.get(size - 1).deps().isAtMost(with)) {
          size--;
        }
        shrunk |= size < prefix.size();
        prefixes.set(i, all.get(i).subList(0, size));
      }
    }
    List<Cut> found = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      found.addAll(prefixes.get(i));
      waiting.get(i).putBack(all.get(i).subList(prefixes.get(i).size(), all.get(i).size()));
    }
    return found;
  }

  private static VersionVector raised(VersionVector cut, List<Cut> by) {
    VersionVector raised = cut;
    for (Cut c : by) {
      raised = c.raise(raised);
    }
    return raised;
  }
}
