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
 * Which closed cuts become visible now: a cut is admitted when what it depends on is here or is
 * admitted with it. A pure function.
 *
 * <p>Why with it? An origin that is out of reach is repaired by states from a third datacenter,
 * which depend on that one's own updates, and those on the origin's: neither can come first. So, if
 * no cut can be admitted alone, the largest set of cuts that together depend on nothing else is.
 */
final class CutAdmission {
  private CutAdmission() {}

  /**
   * The cuts that can be admitted, in the order in which they are to be applied.
   *
   * @param queues whose cuts each depend on all that those before them depend on; they stay as they
   *     are
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

  /** What is left of a queue. */
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

  /** The largest set of cuts that depend only on the present one and on each other. */
  private static List<Cut> together(List<Waiting> waiting, VersionVector cut) {
    if (waiting.size() < 2) {
      return List.of(); // alone it was tried
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
