package io.osier.bench.peers;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.peers.PeerLoad.Kind;
import java.util.BitSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The load on nodes that share their objects, and on nodes that do something wrong. */
final class PeerLoadTest {
  /** Nodes without a network: all see the same objects at once. */
  private static class Shared implements Peer {
    final Map<Integer, Long> counters = new ConcurrentHashMap<>();
    final Map<Integer, BitSet> sets = new ConcurrentHashMap<>();

    /** Whether an update is really done. */
    boolean isDone() {
      return true;
    }

    @Override
    public Caller caller(int node) {
      return new Caller() {
        @Override
        public void increment(int counter) {
          if (isDone()) {
            counters.merge(counter, 1L, Long::sum);
          }
        }

        @Override
        public void add(int set, int element) {
          if (isDone()) {
            sets.compute(
                set,
                (s, old) -> {
                  BitSet more = old == null ? new BitSet() : (BitSet) old.clone();
                  more.set(element);
                  return more;
                });
          }
        }

        @Override
        public void finish() {}

        @Override
        public long count(int counter) {
          return counters.getOrDefault(counter, 0L);
        }

        @Override
        public boolean contains(int set, int element) {
          return elements(set).get(element);
        }

        @Override
        public BitSet elements(int set) {
          return sets.getOrDefault(set, new BitSet());
        }
      };
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public void close() {}
  }

  private static PeerLoad.Shape shape(Kind kind, int probers, long seed) {
    return new PeerLoad.Shape(kind, 50, 10, 8, probers, seed);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void run_doesAllUpdatesAndConverges(Kind kind) throws InterruptedException {
    Shared peer = new Shared();
    PeerLoad load = new PeerLoad(peer, shape(kind, 2, 1));
    PeerLoad.Outcome first = load.run(10_003);
    PeerLoad.Outcome second = load.run(5_000);
    assertThat(load.awaitConverged(0)).isEmpty();
    assertThat(first.updates()).isGreaterThanOrEqualTo(10_003);
    if (kind == Kind.COUNTERS) {
      assertThat(peer.counters.values().stream().mapToLong(v -> v).sum())
          .isEqualTo(first.updates() + second.updates());
    } else {
      // Without the probers' sets.
      assertThat(peer.sets.keySet()).contains(0, 1, 2);
      assertThat(requireNonNull(peer.sets.get(0)).length()).isLessThanOrEqualTo(10);
    }
  }

  @Test
  void run_sameSeedDoesTheSame() throws InterruptedException {
    Shared one = new Shared();
    Shared other = new Shared();
    Shared seeded = new Shared();
    new PeerLoad(one, shape(Kind.COUNTERS, 0, 3)).run(20_000);
    new PeerLoad(other, shape(Kind.COUNTERS, 0, 3)).run(20_000);
    new PeerLoad(seeded, shape(Kind.COUNTERS, 0, 4)).run(20_000);
    assertThat(one.counters).isEqualTo(other.counters);
    assertThat(one.counters).isNotEqualTo(seeded.counters);
    assertThat(one.counters.get(0)).isGreaterThan(one.counters.get(20));
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void awaitConverged_tellsOfALostUpdate(Kind kind) throws InterruptedException {
    AtomicLong calls = new AtomicLong();
    Shared peer =
        new Shared() {
          @Override
          boolean isDone() {
            return calls.incrementAndGet() > 1;
          }
        };
    // One thread, so that it is the same update every time; no other adds the same element.
    PeerLoad load = new PeerLoad(peer, new PeerLoad.Shape(kind, 1_000, 1_000, 1, 0, 5));
    load.run(1_000);
    assertThat(load.awaitConverged(0)).hasSize(Peer.NODES);
  }

  @Test
  void awaitConverged_tellsOfAnUpdateThatCountsTwice() throws InterruptedException {
    Shared peer = new Shared();
    PeerLoad load = new PeerLoad(peer, shape(Kind.COUNTERS, 0, 6));
    load.run(1_000);
    peer.counters.merge(7, 1L, Long::sum);
    assertThat(load.awaitConverged(0)).hasSize(Peer.NODES).first().asString().contains("object 7");
  }

  @Test
  void run_failsWithAnUpdate() {
    Shared peer =
        new Shared() {
          @Override
          boolean isDone() {
            throw new UnsupportedOperationException("no sets");
          }
        };
    PeerLoad load = new PeerLoad(peer, shape(Kind.SETS, 0, 7));
    assertThatThrownBy(() -> load.run(100))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no sets");
  }
}
