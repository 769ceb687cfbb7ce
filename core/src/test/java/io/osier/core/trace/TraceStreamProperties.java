package io.osier.core.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.ReplicaId;
import io.osier.core.TraceId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.StringLength;

/** Everybody who knows an update's name follows the same updates, under the same trace ids. */
class TraceStreamProperties {
  /** Each datacenter and the client have objects of their own, made of the same names. */
  @Property
  void everybodyDrawsTheSame(
      @ForAll @AlphaChars @StringLength(min = 1, max = 8) String keyspace,
      @ForAll @IntRange(max = 255) int partition,
      @ForAll @LongRange(min = 1) long incarnation,
      @ForAll @LongRange(min = 1) long number,
      @ForAll @DoubleRange(max = 1) double share) {
    List<Boolean> follows = new ArrayList<>();
    List<TraceId> ids = new ArrayList<>();
    for (String who : List.of("origin", "receiver", "client")) {
      TraceStream stream =
          new TraceStream(
              String.valueOf(keyspace.toCharArray()),
              partition,
              new ReplicaId(String.valueOf(new char[] {'e', 'u'}), incarnation));
      follows.add(TraceSample.of(share).takes(stream, number));
      ids.add(stream.id(number));
      assertThat(follows.getLast()).as(who).isEqualTo(follows.getFirst());
      assertThat(ids.getLast()).as(who).isEqualTo(ids.getFirst());
    }
    TraceId id = ids.getFirst();
    assertThat(id.hex()).matches("[0-9a-f]{32}").isNotEqualTo("0".repeat(32));
    assertThat(id.rootHex()).matches("[0-9a-f]{16}").isNotEqualTo("0".repeat(16));
  }

  /** Where shares differ, both follow the updates of the smaller one. */
  @Property
  void aLargerShareFollowsAllThatASmallerOneDoes(
      @ForAll @DoubleRange(max = 1) double one,
      @ForAll @DoubleRange(max = 1) double other,
      @ForAll @LongRange(min = 1) long number) {
    TraceStream stream = new TraceStream("k", 0, new ReplicaId("eu", 7));
    TraceSample smaller = TraceSample.of(Math.min(one, other));
    TraceSample larger = TraceSample.of(Math.max(one, other));
    assertThat(!smaller.takes(stream, number) || larger.takes(stream, number)).isTrue();
    assertThat(TraceSample.NONE.takes(stream, number)).isFalse();
    assertThat(TraceSample.of(1).takes(stream, number)).isTrue();
  }

  /** Even for partitions side by side, and for consecutive numbers. */
  @Example
  void shareIsWhatIsFollowed() {
    for (double share : new double[] {0.001, 0.1, 0.5}) {
      TraceSample sample = TraceSample.of(share);
      int taken = 0;
      int all = 0;
      for (int partition = 0; partition < 4; partition++) {
        TraceStream stream =
            new TraceStream("shop", partition, new ReplicaId("eu", 1_795_343_521L));
        for (long number = 1; number <= 250_000; number++) {
          taken += sample.takes(stream, number) ? 1 : 0;
          all++;
        }
      }
      double deviation = Math.sqrt(all * share * (1 - share));
      assertThat((double) taken)
          .isBetween(all * share - 5 * deviation, all * share + 5 * deviation);
    }
  }

  @Example
  void everyUpdateHasATraceOfItsOwn() {
    Set<TraceId> ids = new HashSet<>();
    Set<Long> roots = new HashSet<>();
    for (String keyspace : new String[] {"Aa", "BB", "shop"}) { // the first two have one hash code
      for (int partition = 0; partition < 3; partition++) {
        for (String dc : new String[] {"eu", "us"}) {
          for (long incarnation : new long[] {1, 2}) {
            TraceStream stream =
                new TraceStream(keyspace, partition, new ReplicaId(dc, incarnation));
            for (long number = 1; number <= 1_000; number++) {
              TraceId id = stream.id(number);
              assertThat(ids.add(id)).as("%s is new", id).isTrue();
              roots.add(id.root());
            }
          }
        }
      }
    }
    assertThat(roots).hasSize(ids.size());
  }

  @Example
  void namesThatRunTogether_areNotTheSame() {
    ReplicaId eu = new ReplicaId("eu", 1);
    assertThat(new TraceStream("k1", 1, eu).id(1)).isNotEqualTo(new TraceStream("k", 11, eu).id(1));
  }

  @Example
  void noShare_isRefused() {
    for (double share : new double[] {-0.1, 1.1, Double.NaN}) {
      assertThatThrownBy(() -> TraceSample.of(share)).isInstanceOf(IllegalArgumentException.class);
    }
  }
}
