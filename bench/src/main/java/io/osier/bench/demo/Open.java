package io.osier.bench.demo;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Something that a user has open, such as a cart; it is in one update at a time. */
abstract class Open {
  private int updates;
  private volatile boolean isBusy;

  /** Returns the number of its updates, including the present one. */
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

  /** Makes the update for which this was taken; it is not taken again before the update's end. */
  final void update(
      Kind.Calls calls, CompletableFuture<?> update, Runnable acknowledged, Runnable unknown) {
    calls.update(update, acknowledged, unknown).whenComplete((done, error) -> isBusy = false);
  }

  /** The things that the users of one datacenter have open. Used by one thread. */
  static final class Pool<T extends Open> {
    private final int updatesMax;
    private final IntFunction<T> make;
    private final List<T> open;
    private int made;

    /** Creates a pool; a thing with {@code updatesMax} updates is replaced by a new one. */
    Pool(int size, int updatesMax, IntFunction<T> make) {
      this.updatesMax = updatesMax;
      this.make = make;
      open =
          IntStream.range(0, size).mapToObj(i -> make.apply(made++)).collect(Collectors.toList());
    }

    /** Takes a thing that is in no update, trying one place after the other. */
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
