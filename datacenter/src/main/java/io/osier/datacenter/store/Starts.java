package io.osier.datacenter.store;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The random numbers that the starts of a store have drawn, newest first: two processes that run
 * with copies of one store have different ones, and a copy lacks those of the original since.
 *
 * @param numbers each 1 or larger; not empty
 */
record Starts(List<Long> numbers) {
  /** Older ones are forgotten. */
  static final int KEPT_MAX = 33;

  Starts {
    numbers = List.copyOf(numbers);
  }

  /**
   * Those with the one that begins now.
   *
   * @param before what the last start has left; empty in a new store
   */
  static Starts with(long start, Optional<Starts> before) {
    List<Long> all = new ArrayList<>(List.of(start));
    before.ifPresent(b -> all.addAll(b.numbers));
    return new Starts(all.subList(0, Math.min(all.size(), KEPT_MAX)));
  }

  byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeCount(numbers.size());
    numbers.forEach(out::writeNumber);
    return out.toBytes();
  }

  /** Reads the record. */
  static Starts decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "a store's starts", Starts::read);
  }

  private static Starts read(WireInput in) {
    int n = in.readCount(1);
    List<Long> numbers = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      numbers.add(in.readNumber());
    }
    return new Starts(numbers);
  }
}
