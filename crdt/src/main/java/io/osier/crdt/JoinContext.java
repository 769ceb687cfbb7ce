package io.osier.crdt;

import io.osier.core.CausalContext;

/**
 * The two sides of a join, as the nested stores of one object see them. Immutable.
 *
 * <p>A side is <em>full</em> if it is a state: whatever its context covers and it does not hold has
 * been removed. A side that is not full is a delta: it <em>mentions</em> every element or field
 * that its context concerns, if need be with no dots, so that a join touches only what the delta
 * mentions and costs its size, not the state's.
 *
 * @param leftFull whether the left side is a state
 * @param rightFull whether the right side is a state
 */
public record JoinContext(
    CausalContext left, boolean leftFull, CausalContext right, boolean rightFull) {

  /** Whether the result is a state; only a delta keeps mentions. */
  public boolean full() {
    return leftFull || rightFull;
  }

  /** Returns the same join with its sides exchanged. */
  public JoinContext swapped() {
    return new JoinContext(right, rightFull, left, leftFull);
  }
}
