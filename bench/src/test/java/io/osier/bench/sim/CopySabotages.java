package io.osier.bench.sim;

import io.osier.bench.sim.plan.Fault;
import io.osier.bench.sim.plan.Feature;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.datacenter.copies.FollowCodec.Answer;
import io.osier.datacenter.copies.FollowCodec.Ask;
import io.osier.datacenter.copies.FollowCodec.Told;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;

/** What would be wrong where datacenters have copies of what others hold. */
final class CopySabotages {
  private CopySabotages() {}

  /** Where copies end, and begin anew. */
  private interface Copying extends Sabotage {
    @Override
    default Set<Fault> needs() {
      return EnumSet.of(Fault.ANSWERS, Fault.PARTITIONS, Fault.CRASHES);
    }

    @Override
    default Set<Feature> features() {
      return EnumSet.of(Feature.HOLDERS, Feature.COPIES);
    }
  }

  /** Copies know nothing of what sessions have seen elsewhere. */
  static Sabotage aging() {
    return new Copying() {
      @Override
      public Request.Read copied(Request.Read read) {
        return new Request.Read(
            read.keyspace(),
            read.key(),
            read.type(),
            read.query(),
            VersionVector.EMPTY,
            read.ordered(),
            read.waitMillis());
      }
    };
  }

  static Sabotage outliving() {
    return new Copying() {
      @Override
      public boolean keepsCopies() {
        return true;
      }
    };
  }

  /** A copy that begins takes what a former copy of its key was told last. */
  static Sabotage confusing() {
    return new Copying() {
      private record Name(ReplicaId at, long number) {}

      private record Place(ReplicaId at, String keyspace, Key key) {}

      private final Map<Name, Place> names = new HashMap<>();
      private final Map<Place, Told> last = new HashMap<>();

      /** By subscription, the copies that nothing was told of. */
      private final Map<Name, Set<Long>> empty = new HashMap<>();

      @Override
      public UnaryOperator<Answer> follows(ReplicaId at, Ask asked) {
        Set<Long> begun =
            empty.computeIfAbsent(new Name(at, asked.subscription()), n -> new HashSet<>());
        for (var added : asked.add()) {
          begun.add(added.number());
          names.put(new Name(at, added.number()), new Place(at, asked.keyspace(), added.key()));
        }
        return answer -> {
          List<Told> all = new ArrayList<>(answer.objects());
          for (Told told : answer.objects()) {
            begun.remove(told.number());
            last.put(names.get(new Name(at, told.number())), told);
          }
          for (long number : begun) {
            Told former = last.get(names.get(new Name(at, number)));
            if (former != null) {
              all.add(new Told(number, former.states(), former.bytes()));
            }
          }
          begun.clear();
          return new Answer(answer.step(), answer.through(), all);
        };
      }
    };
  }

  /** Of every second change nothing is told, and yet all is said to be told. */
  static Sabotage boasting() {
    return new Copying() {
      private final Set<Object> told = new HashSet<>();
      private int changes;

      @Override
      public UnaryOperator<Answer> follows(ReplicaId at, Ask asked) {
        return answer ->
            new Answer(
                answer.step(),
                answer.through(),
                answer.objects().stream()
                    .filter(each -> told.add(List.of(at, each.number())) || ++changes % 2 == 0)
                    .toList());
      }
    };
  }

  /** A copy that may be old says that it is half as old as it is. */
  static Sabotage flattering() {
    return new Copying() {
      @Override
      public Duration told(Duration age) {
        return age.dividedBy(2);
      }
    };
  }
}
