package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import java.util.function.Supplier;

/**
 * The rules that a keyspace's consistency sets for shipments and answers: the sender's half. The
 * receiver's half, when updates become visible, is {@code receive.Visibility}.
 */
public enum CutPolicy {
  /** Each object becomes visible for itself: an update names the updates that it builds on. */
  NONE {
    @Override
    public VersionVector needs(Supplier<VersionVector> builtOn) {
      return builtOn.get();
    }

    @Override
    public VersionVector deps(VersionVector here) {
      return VersionVector.EMPTY;
    }

    @Override
    public boolean areWhole() {
      return false;
    }
  },

  /** Shipped updates become visible in cuts, each of which names its dependencies. */
  MARKED {
    @Override
    public VersionVector needs(Supplier<VersionVector> builtOn) {
      return VersionVector.EMPTY;
    }

    @Override
    public VersionVector deps(VersionVector here) {
      return here;
    }

    @Override
    public boolean areWhole() {
      return true;
    }
  };

  /** Returns the cut policy of a keyspace. */
  public static CutPolicy of(KeyspacePolicy policy) {
    return policy.consistency() == KeyspacePolicy.Consistency.CAUSAL ? MARKED : NONE;
  }

  /**
   * Returns the updates of others on its object that an update names.
   *
   * @param builtOn returns the updates that it builds on and that not everybody has
   */
  public abstract VersionVector needs(Supplier<VersionVector> builtOn);

  /**
   * Returns the dependencies that the end of a cut or of an answer names.
   *
   * @param here the numbers up to which every replica's updates are here
   */
  public abstract VersionVector deps(VersionVector here);

  /**
   * Whether all held updates leave at once, because joined updates must lie on one side of a cut.
   * States also show held updates, so an answer of states ends only when nothing is held any more.
   */
  public abstract boolean areWhole();
}
