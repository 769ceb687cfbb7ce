package io.osier.bench.demo;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Something that a user has open: it is in one update at a time, and in so many at most. */
abstract class Open {
  private int updates;
  private volatile boolean isBusy;

  /** How many updates it was in, with the present one. */
  final int updates() {
    return updates;
  }

  final boolean isBusy() {
    return isBusy;
  }

  final void begin() {
    isBusy = true;
    updates++;
  }

  /** Makes the update for which it was taken; until its callback has run it is not taken again. */
  final void update(
      Kind.Calls calls, CompletableFuture<?> update, Runnable acknowledged, Runnable unknown) {
    calls.update(update, acknowledged, unknown).whenComplete((done, error) -> isBusy = false);
  }

  /** What the users of one datacenter have open. Used by one thread. */
  static final class Pool<T extends Open> {
    private final int updatesMax;
    private final IntFunction<T> make;
    private final List<T> open;
    private int made;

    /** With so many at a time; one that has had its updates is left, and another one made. */
    Pool(int size, int updatesMax, IntFunction<T> make) {
      this.updatesMax = updatesMax;
      this.make = make;
      open =
          IntStream.range(0, size).mapToObj(i -> make.apply(made++)).collect(Collectors.toList());
    }

    /** Takes one that is not busy, trying one place after the other. */
    T take(IntSupplier place) {
      int at = place.getAsInt();
      while (open.get(at).isBusy()) {
        at = place.getAsInt();
      }
      if (open.get(at).updates() == updatesMax) {
        open.set(at, make.apply(made++));
      }
      open.get(at).begin();
      return open.get(at);
    }
  }
}
