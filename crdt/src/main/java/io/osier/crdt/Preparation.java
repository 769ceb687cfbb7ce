package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import java.util.ArrayList;
import java.util.List;

/**
 * What an update is prepared with: its dot, its timestamp, and a collector of the dots that it saw
 * and supersedes, which become part of its delta's causal context (invariant I3). One for each
 * update; not thread-safe.
 */
public final class Preparation {
  private final Dot dot;
  private final long timestamp;
  private final List<Dot> superseded = new ArrayList<>(4);

  /**
   * For one update.
   *
   * @param dot the update's identity
   * @param timestamp a hybrid-clock timestamp, larger than every one that the object carries
   */
  public Preparation(Dot dot, long timestamp) {
    this.dot = dot;
    this.timestamp = timestamp;
  }

  /** The update's identity. */
  public Dot dot() {
    return dot;
  }

  /** The update's hybrid-clock timestamp. */
  public long timestamp() {
    return timestamp;
  }

  /** Notes that the update replaces or removes what this dot stands for. */
  public void supersede(Dot seen) {
    superseded.add(seen);
  }

  /** Notes the same for many dots. */
  public void supersede(DotSet seen) {
    for (int i = 0; i < seen.size(); i++) {
      superseded.add(seen.get(i));
    }
  }

  /** The causal context of the delta: {@code (predecessor, dot]} and all that was superseded. */
  CausalContext context(long predecessor) {
    CausalContext context = CausalContext.range(dot.replica(), predecessor, dot.number());
    for (Dot seen : superseded) {
      context = context.with(seen);
    }
    return context;
  }
}
