package io.osier.bench.sim;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.ReplicaId;
import io.osier.crdt.ObjectId;
import io.osier.crdt.state.CrdtState;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.propagation.host.StreamSettings;
import io.osier.protocol.Call;
import io.osier.protocol.Request;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Sabotages of what a datacenter does by itself: its store, its ports and its partitions. */
final class DatacenterSabotages {
  private DatacenterSabotages() {}

  static Sabotage forgetful() {
    return new Sabotage() {
      private int stored;

      @Override
      public @Nullable CrdtState stored(
          ReplicaId at, ObjectId object, @Nullable CrdtState before, CrdtState after) {
        // The store itself stumbles over an object of which it holds nothing.
        boolean remote = before != null && after.context().last(at) == before.context().last(at);
        return remote && ++stored % 50 == 0 ? null : after;
      }
    };
  }

  static Sabotage stale() {
    return new Sabotage() {
      private final Map<ObjectId, CrdtState> first = new HashMap<>();
      private int loads;

      @Override
      public @Nullable CrdtState loaded(ObjectId object, @Nullable CrdtState state) {
        if (state == null) {
          return null;
        }
        CrdtState former = first.putIfAbsent(object, state);
        return former != null && ++loads % 500 == 0 ? former : state;
      }
    };
  }

  static Sabotage hasty() {
    return new Sabotage() {
      private int groups;

      @Override
      public boolean confirmsEarly() {
        return ++groups % 100 == 0;
      }
    };
  }

  static Sabotage greedy() {
    return new Sabotage() {
      @Override
      public boolean everybodyInherits() {
        return true;
      }

      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.MEMBERS);
      }
    };
  }

  static Sabotage overtaking() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.COLD_READS);
      }

      @Override
      public boolean overtakes() {
        return true;
      }
    };
  }

  static Sabotage twice() {
    return new Sabotage() {
      private int commands;

      @Override
      public boolean again() {
        return ++commands % 100 == 0;
      }
    };
  }

  /** What waits in front of an update changes what its condition is about. */
  static Sabotage judging() {
    return new Sabotage() {
      @Override
      public boolean judgesAtOnce() {
        return true;
      }
    };
  }

  static Sabotage hurried() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EMBEDDED);
      }

      @Override
      public boolean looksPastWhatIsHeld() {
        return true;
      }
    };
  }

  static Sabotage concealing() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.WATCHERS);
      }

      private int changes;

      @Override
      public Effects.Visible visible(Effects.Visible visible) {
        return new Effects.Visible(
            visible.life(),
            visible.changes().stream().filter(c -> ++changes % 100 != 0).toList(),
            visible.here(),
            visible.far(),
            visible.over(),
            visible.authors());
      }
    };
  }

  /** Now and then a window ends without one of its objects. */
  static Sabotage dropping() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EMBEDDED);
      }

      private int windows;

      @Override
      public Input.Absorbed absorbed(Input.Absorbed input) {
        return ++windows % 50 == 0
            ? new Input.Absorbed(input.updates().subList(1, input.updates().size()))
            : input;
      }
    };
  }

  static Sabotage showing() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.EXPIRY);
      }

      @Override
      public long millis(long millis) {
        return 0;
      }
    };
  }

  static Sabotage hoarding() {
    return new Sabotage() {
      @Override
      public Set<Fault> needs() {
        return EnumSet.of(Fault.PARTITIONS, Fault.ANSWERS);
      }

      @Override
      public int seconds() {
        return 240;
      }

      @Override
      public StreamSettings.Memory memory(StreamSettings.Memory memory) {
        return StreamSettings.Memory.DEFAULT;
      }
    };
  }

  static Sabotage halving() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.PROGRAMS);
      }

      @Override
      public List<Request.Evaluate> turns(Request.Evaluate program) {
        int half = program.calls().size() / 2;
        return program.isUpdate() && program.guards().isEmpty()
            ? List.of(
                with(program, program.calls().subList(0, half)),
                with(program, program.calls().subList(half, program.calls().size())))
            : List.of(program);
      }
    };
  }

  static Sabotage unguarded() {
    return new Sabotage() {
      @Override
      public Set<Feature> features() {
        return EnumSet.of(Feature.PROGRAMS);
      }

      @Override
      public List<Request.Evaluate> turns(Request.Evaluate program) {
        return List.of(with(program, program.calls()));
      }
    };
  }

  /** Without guards. */
  private static Request.Evaluate with(Request.Evaluate program, List<Call> calls) {
    return new Request.Evaluate(
        program.keyspace(), calls, List.of(), program.after(), program.waitMillis());
  }
}
