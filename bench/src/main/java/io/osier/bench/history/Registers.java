package io.osier.bench.history;

import io.osier.bench.history.History.Op;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Converts a history's registers and operations to Osier's, and back. */
final class Registers {
  static final String KEYSPACE = "history";

  static final Optional<CrdtType> TYPE = Optional.of(CrdtType.LWW_REGISTER);
  static final Query WHOLE = new Query.Whole();

  private Registers() {}

  static Key key(int number) {
    return Key.of("r" + number);
  }

  static Operation assign(long value) {
    return new Operation.Assign(Value.of(value));
  }

  static Keyspace.Change change(Op write) {
    return new Keyspace.Change(key(write.key()), CrdtType.LWW_REGISTER, assign(write.value()));
  }

  static List<Keyspace.Get> gets(List<Integer> keys) {
    return keys.stream().map(k -> new Keyspace.Get(key(k), TYPE, WHOLE)).toList();
  }

  static List<Op> reads(List<Integer> keys, List<Found> found) {
    List<Op> reads = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      reads.add(read(keys.get(i), found.get(i)));
    }
    return reads;
  }

  static Op read(int key, Found found) {
    Reading.Single single = (Reading.Single) found.reading().orElseThrow();
    return new Op(false, key, single.value().map(v -> ((Value.Int) v).content()).orElse(0L));
  }
}
