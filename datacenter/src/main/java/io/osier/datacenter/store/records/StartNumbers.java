package io.osier.datacenter.store.records;

import io.osier.core.codec.Codec;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The random numbers that the starts of a store have drawn, newest first: processes that run with
 * copies of one store draw different numbers, and a copy lacks the numbers that the original has
 * drawn since.
 *
 * @param numbers each 1 or larger; not empty
 */
public record StartNumbers(List<Long> numbers) {
  /** How many numbers are kept; older ones are forgotten. */
  static final int KEPT_MAX = 33;

  public StartNumbers {
    numbers = List.copyOf(numbers);
  }

  /**
   * Returns the numbers with that of the start that begins now.
   *
   * @param before the numbers that the store has; empty in a new store
   */
  public static StartNumbers with(long start, Optional<StartNumbers> before) {
    List<Long> all = new ArrayList<>(List.of(start));
    before.ifPresent(b -> all.addAll(b.numbers));
    return new StartNumbers(all.subList(0, Math.min(all.size(), KEPT_MAX)));
  }

  public byte[] encode() {
    WireOutput out = new WireOutput();
    out.writeCount(numbers.size());
    numbers.forEach(out::writeNumber);
    return out.toBytes();
  }

  /** Decodes the record. */
  public static StartNumbers decode(byte[] bytes) {
    return Codec.readAll(new WireInput(bytes), "a store's starts", StartNumbers::read);
  }

  private static StartNumbers read(WireInput in) {
    int n = in.readCount(1);
    List<Long> numbers = new ArrayList<>(n);
    for (int i = 0; i < n; i++) {
      numbers.add(in.readNumber());
    }
    return new StartNumbers(numbers);
  }
}
