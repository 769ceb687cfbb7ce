package io.osier.bench.sim;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.protocol.Request;
import java.util.EnumSet;
import java.util.Set;

/** Sabotages of what datacenters do for keyspaces that others hold. */
final class ForwardingSabotages {
  private ForwardingSabotages() {}

  /** Where some hold a keyspace, and the ways to them are lost. */
  private interface Forwarding extends Sabotage {
    @Override
    default Set<Fault> needs() {
      return EnumSet.of(Fault.ANSWERS, Fault.PARTITIONS, Fault.CRASHES);
    }

    @Override
    default Set<Feature> features() {
      return EnumSet.of(Feature.HOLDERS);
    }
  }

  static Sabotage oblivious() {
    return new Forwarding() {
      @Override
      public Request forwarded(Request request) {
        return ClientSabotages.amnesiac().sent(request);
      }
    };
  }

  static Sabotage inventing() {
    return new Forwarding() {
      @Override
      public boolean answersForOthers() {
        return true;
      }
    };
  }

  /** Where nothing is lost, as no process ends. */
  static Sabotage alarming() {
    return new Forwarding() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.ANSWERS, Fault.PARTITIONS);
      }

      @Override
      public boolean tellsLost() {
        return true;
      }
    };
  }

  static Sabotage forgetful() {
    return new Forwarding() {
      @Override
      public boolean forgetsElsewhere() {
        return true;
      }
    };
  }

  static Sabotage insisting() {
    return new Forwarding() {
      @Override
      public boolean asksTwice() {
        return true;
      }
    };
  }
}
