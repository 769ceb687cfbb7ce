package io.osier.bench.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.cluster.Contents;
import io.osier.bench.cluster.WriterLoad.Audit;
import io.osier.core.Value;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import io.osier.datacenter.embedded.EmbeddedDatacenter;
import io.osier.proxy.Keyspace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Of what a datacenter shows of each kind nothing can be altered without its account noticing. */
final class KindsTest {
  private static final Audit RIGHT = new Audit(0, 0);
  private static final Value NOBODYS = Value.of("nobody's");
  private static final int CALLS = 300;
  private static final int ROWS = 20;

  /** After so many that differ in one place no further row is altered. */
  private static final int ALTERED_MAX = 200;

  private static final Kind.Calls CALL =
      new Kind.Calls() {
        @Override
        public CompletableFuture<?> update(
            CompletableFuture<?> update, Runnable acknowledged, Runnable unknown) {
          update.join();
          acknowledged.run();
          return update;
        }

        @Override
        public void read(CompletableFuture<?> read) {
          read.join();
        }
      };

  private final long beganMillis = System.currentTimeMillis();

  /** Nobody's presence ends while a test runs. */
  static List<Kind> kinds() {
    return DemoCommand.kinds().stream()
        .map(k -> k instanceof Presence ? new Presence(Duration.ofMinutes(30)) : k)
        .toList();
  }

  private static Map<String, Reading> shownAfter(Kind kind, int calls) {
    try (EmbeddedDatacenter eu =
        EmbeddedDatacenter.start(
            "osier { dc = eu, store { dir = \"\" }, listen { client-port = 0, peer-port = 0 },"
                + " keyspaces { "
                + kind.keyspace
                + " { partitions = 1 } } }")) {
      eu.awaitReady(Duration.ofMinutes(10));
      Keyspace space = eu.session().keyspace(kind.keyspace);
      kind.fill(space);
      Kind.Part part = kind.part(1, space, new SplittableRandom(1));
      for (int i = 0; i < calls; i++) {
        part.call(CALL);
      }
      return Contents.rows(space).stream()
          .collect(Collectors.toMap(row -> row.key().toString(), Keyspace.Row::value));
    }
  }

  private Audit audit(Kind kind, Map<String, Reading> shown) {
    return kind.audit(shown, beganMillis, System.currentTimeMillis());
  }

  /** All that differs from a reading in one place. */
  private static List<Reading> altered(Reading reading) {
    List<Reading> altered = new ArrayList<>();
    switch (reading) {
      case Reading.Count count -> {
        altered.add(new Reading.Count(count.value() - 1)); // a lost update
        altered.add(new Reading.Count(count.value() + 1)); // one that was done twice
      }
      case Reading.Single single -> {
        altered.add(new Reading.Single(Optional.empty()));
        altered.add(new Reading.Single(Optional.of(NOBODYS)));
      }
      case Reading.Many many -> {
        for (Value value : many.values()) {
          altered.add(
              new Reading.Many(many.values().stream().filter(v -> !v.equals(value)).toList()));
        }
        List<Value> more = new ArrayList<>(many.values());
        more.add(NOBODYS);
        altered.add(new Reading.Many(more));
      }
      case Reading.Fields map ->
          map.fields()
              .forEach(
                  (field, value) -> {
                    altered.add(with(map, field, null));
                    altered(value).forEach(other -> altered.add(with(map, field, other)));
                  });
      default -> throw new AssertionError("no kind shows " + reading);
    }
    return altered;
  }

  private static Reading with(Reading.Fields map, FieldId field, @Nullable Reading value) {
    SortedMap<FieldId, Reading> fields = new TreeMap<>(map.fields());
    if (value == null) {
      fields.remove(field);
    } else {
      fields.put(field, value);
    }
    return new Reading.Fields(fields);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void whatIsAltered_isNoticed(Kind kind) {
    Map<String, Reading> shown = shownAfter(kind, CALLS);
    assertThat(audit(kind, shown)).isEqualTo(RIGHT);
    List<String> keys = shown.keySet().stream().sorted().limit(ROWS).toList();
    assertThat(keys).isNotEmpty();
    int tried = 0;
    for (String key : keys) {
      if (tried > ALTERED_MAX) {
        break; // the rows of one kind are alike
      }
      Map<String, Reading> other = new HashMap<>(shown);
      Reading reading = other.remove(key);
      assertThat(audit(kind, other)).as("without %s", key).isNotEqualTo(RIGHT);
      for (Reading altered : altered(reading)) {
        other.put(key, altered);
        tried++;
        assertThat(audit(kind, other)).as("%s is %s", key, altered).isNotEqualTo(RIGHT);
      }
    }
    Map<String, Reading> more = new HashMap<>(shown);
    for (Reading reading : List.of(shown.get(keys.getFirst()), new Reading.Count(1))) {
      more.put("nobody's", reading);
      assertThat(audit(kind, more)).as("%s, which nobody wrote", reading).isNotEqualTo(RIGHT);
    }
  }

  /** In the demo all are compared when nobody is left of those whose presence ends soon. */
  @Test
  void whoStays_isStillThereToBeMissed_whenTheOthersHaveGone() {
    Kind presence = new Presence(Duration.ofMillis(1));
    Map<String, Reading> shown = shownAfter(presence, 64);
    assertThat(audit(presence, shown)).isEqualTo(RIGHT);
    assertThat(audit(presence, Map.of())).isEqualTo(new Audit(4, 0));
  }
}
