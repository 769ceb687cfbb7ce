package io.osier.bench.demo;

import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.bench.cluster.Zipf;
import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records as in YCSB's workload A: maps of ten registers of 20 bytes; half of the operations read a
 * record, half write one field of one, zipfian.
 */
final class Records extends Kind {
  private static final int RECORDS = 1_000;
  private static final int FIELDS = 10;
  private static final int FIELD_LENGTH = 20;

  private final LastWrites writes = new LastWrites();
  private final AtomicLong serial = new AtomicLong();
  private final Zipf zipf = new Zipf(RECORDS);

  Records() {
    super(
        "ycsb",
        "2s",
        3,
        "a window's updates of a record mostly write different fields, each with its 20 bytes:"
            + " they share the key and the head alone");
  }

  private static String key(int record) {
    return "user" + record;
  }

  private static FieldId field(int number) {
    return new FieldId("field" + number, CrdtType.LWW_REGISTER);
  }

  private static String name(String key, FieldId field) {
    return key + "/" + field.name();
  }

  /** Returns a value that was never written before. */
  private Value value(SplittableRandom random) {
    StringBuilder text = new StringBuilder(Long.toString(serial.incrementAndGet(), 36)).append('.');
    while (text.length() < FIELD_LENGTH) {
      text.append((char) ('a' + random.nextInt(26)));
    }
    return Value.of(text.toString());
  }

  @Override
  void fill(Keyspace space) {
    SplittableRandom random = new SplittableRandom(1);
    List<CompletableFuture<?>> all = new ArrayList<>();
    for (int record = 0; record < RECORDS; record++) {
      String key = key(record);
      Map<FieldId, Value> fields = new HashMap<>();
      List<Operation.FieldUpdate> updates = new ArrayList<>();
      for (int i = 0; i < FIELDS; i++) {
        Value value = value(random);
        fields.put(field(i), value);
        updates.add(new Operation.FieldUpdate(field(i), new Operation.Assign(value)));
      }
      long calledNanos = System.nanoTime();
      all.add(
          space
              .map(key)
              .updateAsync(updates)
              .thenRun(
                  () ->
                      fields.forEach(
                          (f, v) ->
                              writes.acknowledged(
                                  name(key, f), v, calledNanos, System.nanoTime()))));
    }
    CompletableFuture.allOf(all.toArray(new CompletableFuture<?>[0])).join();
  }

  @Override
  Part part(int number, Keyspace space, SplittableRandom random) {
    return calls -> {
      String key = key(zipf.next(random));
      if (random.nextBoolean()) {
        calls.read(space.readAsync(Key.of(key), Optional.of(CrdtType.OR_MAP), new Query.Whole()));
        return;
      }
      FieldId field = field(random.nextInt(FIELDS));
      String name = name(key, field);
      Value value = value(random);
      long calledNanos = System.nanoTime();
      calls.update(
          space
              .map(key)
              .updateAsync(List.of(new Operation.FieldUpdate(field, new Operation.Assign(value)))),
          () -> writes.acknowledged(name, value, calledNanos, System.nanoTime()),
          () -> writes.unknown(name, value));
    };
  }

  @Override
  Audit audit(Map<String, Reading> there, long fromMillis, long toMillis) {
    Map<String, Optional<Value>> shown = new HashMap<>();
    there.forEach(
        (key, reading) -> {
          if (reading instanceof Reading.Fields map) {
            map.fields()
                .forEach(
                    (field, value) ->
                        shown.put(
                            name(key, field),
                            value instanceof Reading.Single one ? one.value() : Optional.empty()));
          } else {
            shown.put(key, Optional.empty()); // no map of registers: surplus
          }
        });
    return writes.audit(name -> shown.getOrDefault(name, Optional.empty()), shown.keySet());
  }
}
