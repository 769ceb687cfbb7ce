package io.osier.bench.sim;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.datacenter.partition.machine.Input;
import java.util.EnumSet;
import java.util.Set;

/** What would be wrong where holders are removed from a keyspace. */
final class HolderSabotages {
  private HolderSabotages() {}

  /** Some datacenters hold a keyspace, and operators alter which. */
  private abstract static class Removal implements Sabotage {
    @Override
    public Set<Fault> needs() {
      return EnumSet.of(Fault.ANSWERS, Fault.PARTITIONS, Fault.SLOW);
    }

    @Override
    public Set<Feature> features() {
      return EnumSet.of(Feature.HOLDERS);
    }
  }

  static Sabotage hasty() {
    return new Removal() {
      @Override
      public boolean hurriesRemovals() {
        return true;
      }
    };
  }

  static Sabotage lingering() {
    return new Removal() {
      @Override
      public boolean servesOn() {
        return true;
      }

      @Override
      public boolean refuses(Input input) {
        return input instanceof Input.Retire;
      }
    };
  }

  static Sabotage miserly() {
    return new Removal() {
      @Override
      public boolean keepsRights() {
        return true;
      }
    };
  }

  /** There are laws, and the holders of some keyspaces follow their load. */
  private abstract static class Moves extends Removal {
    @Override
    public Set<Feature> features() {
      return EnumSet.of(Feature.HOLDERS, Feature.PLACEMENT);
    }
  }

  static Sabotage sparse() {
    return new Moves() {
      @Override
      public Set<String> overlooks() {
        return Set.of("holders-min");
      }
    };
  }

  static Sabotage lawless() {
    return new Moves() {
      @Override
      public Set<String> overlooks() {
        return Set.of("allow", "deny");
      }
    };
  }

  static Sabotage blind() {
    return new Moves() {
      @Override
      public boolean takesForReachable() {
        return true;
      }
    };
  }

  static Sabotage homeless() {
    return new Moves() {
      @Override
      public boolean takesForeignKeys() {
        return true;
      }
    };
  }
}
