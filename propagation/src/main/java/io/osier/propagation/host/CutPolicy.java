package io.osier.propagation.host;

import io.osier.core.KeyspacePolicy;
import io.osier.core.VersionVector;
import java.util.function.Supplier;

/**
 * What the kind of a keyspace asks of those who ship and answer. Chosen once, by the policy; when
 * what comes becomes visible is the other half, and the receiver's.
 */
public enum CutPolicy {
  /** Each object is visible for itself: an update names what it builds on. */
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

  /** What is shipped becomes visible in cuts, each of which names what it depends on. */
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

  /** The keyspace's. */
  public static CutPolicy of(KeyspacePolicy policy) {
    return policy.consistency() == KeyspacePolicy.Consistency.CAUSAL ? MARKED : NONE;
  }

  /**
   * What an update names of others' updates on its object.
   *
   * @param builtOn what it builds on and not everybody has
   */
  public abstract VersionVector needs(Supplier<VersionVector> builtOn);

  /**
   * What closes a cut, or ends an answer, says that it depends on.
   *
   * @param here what is here of every replica
   */
  public abstract VersionVector deps(VersionVector here);

  /**
   * Whether what is held leaves all at once, because joined updates must lie on one side of a cut;
   * so states, which show what is held, are at their end only when nothing is held any more.
   */
  public abstract boolean areWhole();
}
