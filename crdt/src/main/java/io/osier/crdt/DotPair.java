package io.osier.crdt;

import io.osier.core.CausalContext;
import io.osier.core.Dot;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.memory.HeapSize;

/**
 * The dots that enable something and those that disable it. It holds if there is at least one that
 * enables it and none that disables it: of concurrent changes the disabling one wins. Each change
 * removes all dots that it saw, of both kinds. Immutable.
 */
public record DotPair(DotSet pros, DotSet cons) {
  public static final DotPair EMPTY = new DotPair(DotSet.EMPTY, DotSet.EMPTY);

  public static DotPair pro(Dot dot) {
    return new DotPair(DotSet.of(dot), DotSet.EMPTY);
  }

  public static DotPair con(Dot dot) {
    return new DotPair(DotSet.EMPTY, DotSet.of(dot));
  }

  public boolean holds() {
    return !pros.isEmpty() && cons.isEmpty();
  }

  public boolean isEmpty() {
    return pros.isEmpty() && cons.isEmpty();
  }

  public void supersede(UpdateContext preparation) {
    pros.supersede(preparation);
    cons.supersede(preparation);
  }

  public DotPair join(DotPair other, CausalContext mine, CausalContext theirs) {
    DotSet left = pros.join(other.pros, mine, theirs);
    DotSet right = cons.join(other.cons, mine, theirs);
    return left == pros && right == cons ? this : new DotPair(left, right);
  }

  public long heapBytes() {
    return HeapSize.object(2 * HeapSize.REFERENCE) + pros.heapBytes() + cons.heapBytes();
  }

  public int sizeBytes() {
    return pros.sizeBytes() + cons.sizeBytes();
  }

  public void write(WireOutput out) {
    pros.write(out);
    cons.write(out);
  }

  public static DotPair read(WireInput in) {
    return new DotPair(DotSet.read(in), DotSet.read(in));
  }

  /** Skips an encoded pair; returns whether it holds. */
  public static boolean skip(WireInput in) {
    boolean isFor = DotSet.skip(in);
    boolean isAgainst = DotSet.skip(in);
    return isFor && !isAgainst;
  }
}
