package io.osier.datacenter.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.crdt.FieldId;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.MapHandle;
import io.osier.proxy.Range;
import io.osier.proxy.SetHandle;
import io.osier.proxy.Transaction;
import io.osier.proxy.TypedSet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Pages of sets and maps, by network and in the process. */
@NullUnmarked // what is null is refused
final class RangesTest {
  @AutoClose private static final Ways ways = new Ways();

  private static List<Value> numbers(int from, int to) {
    return IntStream.range(from, to).mapToObj(Value::of).toList();
  }

  private static Range<Value> all() {
    return Range.all();
  }

  @EachWay
  void elementsOfASet_comeInPagesOfAnySize(String how, String name) {
    SetHandle set = ways.here(how, name).set("numbers");
    assertThat(set.first()).isEmpty();
    assertThat(set.last()).isEmpty();
    assertThat(set.stream(all())).isEmpty();
    set.add(numbers(0, 1_203));
    assertThat(set.first()).contains(Value.of(0));
    assertThat(set.last()).contains(Value.of(1_202));
    assertThat(set.get(Range.after(Value.of(10)).limit(3))).isEqualTo(numbers(11, 14));
    assertThat(set.get(Range.from(Value.of(10)).before(Value.of(12)))).isEqualTo(numbers(10, 12));
    assertThat(set.get(all().to(Value.of(5)).descending().limit(2)))
        .containsExactly(Value.of(5), Value.of(4));
    assertThat(set.get(Range.from(Value.of(7)).to(Value.of(3)))).isEmpty();
    assertThat(set.get(Range.after(Value.of(5_000)))).isEmpty();
    assertThat(set.get(all())).as("a page").hasSize(500);
    assertThat(set.stream(all())).isEqualTo(numbers(0, 1_203));
    assertThat(set.stream(all().limit(401))).as("pages that fit").isEqualTo(numbers(0, 1_203));
    assertThat(set.stream(all().descending().limit(7))).isEqualTo(numbers(0, 1_203).reversed());
    assertThat(set.stream(Range.after(Value.of(3)).before(Value.of(1_000)).limit(100)))
        .isEqualTo(numbers(4, 1_000));
    SetHandle there = ways.there(how, name).set("numbers");
    await().until(() -> there.size() == 1_203);
    assertThat(there.stream(all().limit(250))).isEqualTo(numbers(0, 1_203));
  }

  /** What goes and comes behind the page that was read last, and in front of it. */
  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop"})
  void streamOfASetThatChanges_showsWhatStaysOnce(String how, String name) {
    SetHandle set = ways.here(how, name).set("changing");
    set.add(numbers(0, 100));
    List<Value> shown = new ArrayList<>();
    try (Stream<Value> stream = set.stream(all().limit(10))) {
      stream.forEach(
          element -> {
            shown.add(element);
            if (shown.size() == 20) {
              set.remove(List.of(element, Value.of(50)));
              set.add(List.of(Value.of(-1), Value.of(1_000)));
            }
          });
    }
    List<Value> expected = new ArrayList<>(numbers(0, 100));
    expected.remove(Value.of(50));
    expected.add(Value.of(1_000));
    assertThat(shown).isEqualTo(expected);
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop"})
  void publisher_givesWhatIsWanted(String how, String name) {
    SetHandle set = ways.here(how, name).set("published");
    set.add(numbers(0, 30));
    List<Value> heard = new ArrayList<>();
    List<String> ends = new ArrayList<>();
    Flow.Subscription[] held = new Flow.Subscription[1];
    set.publisher(all().limit(4))
        .subscribe(
            new Flow.Subscriber<>() {
              @Override
              public void onSubscribe(Flow.Subscription subscription) {
                held[0] = subscription;
              }

              @Override
              public synchronized void onNext(Value element) {
                heard.add(element);
              }

              @Override
              public void onError(Throwable error) {
                ends.add(error.toString());
              }

              @Override
              public void onComplete() {
                ends.add("complete");
              }
            });
    held[0].request(10);
    await().until(() -> heard.size() == 10);
    assertThat(ends).isEmpty();
    held[0].request(Long.MAX_VALUE);
    await().until(() -> !ends.isEmpty());
    assertThat(ends).containsExactly("complete");
    assertThat(heard).isEqualTo(numbers(0, 30));
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, bank"})
  void setsAreCompared_pageByPage(String how, String name) {
    Keyspace here = ways.here(how, name);
    SetHandle few = here.set("few");
    SetHandle many = here.set("many");
    assertThat(few.isSubsetOf(many)).as("nothing in nothing").isTrue();
    few.add(numbers(990, 1_000));
    assertThat(few.isSubsetOf(many)).isFalse();
    many.add(numbers(0, 1_200));
    assertThat(few.isSubsetOf(many)).isTrue();
    assertThat(many.isSubsetOf(few)).isFalse();
    assertThat(few.intersection(many)).isEqualTo(numbers(990, 1_000));
    assertThat(many.intersection(few)).isEqualTo(numbers(990, 1_000));
    few.add("more");
    assertThat(few.isSubsetOf(many)).isFalse();
    assertThat(few.intersection(many)).hasSize(10);
  }

  @EachWay
  void fieldsOfAMap_comeInTheOrderOfTheirNames(String how, String name) {
    MapHandle map = ways.here(how, name).map("rows");
    for (int i = 0; i < 25; i++) {
      map.counter("row:%02d".formatted(i)).increment(i);
    }
    map.register("row:07").assign("also");
    assertThat(names(map.get(Range.after("row:04").limit(3)).keySet().stream()))
        .as("those of one name together")
        .containsExactly("row:05", "row:06", "row:07", "row:07");
    assertThat(map.get(Range.from("row:20").to("row:21")).values())
        .containsExactly(new Reading.Count(20), new Reading.Count(21));
    assertThat(map.stream(Range.<String>all().limit(4))).hasSize(26);
    assertThat(names(map.stream(Range.<String>all().descending().limit(4)).map(e -> e.getKey())))
        .isSortedAccordingTo((a, b) -> b.compareTo(a))
        .hasSize(26);
    MapHandle nested = map.map("nested");
    nested.counter("a").increment();
    nested.counter("b").increment();
    nested.set("s").add("x", "y", "z");
    assertThat(names(nested.get(Range.after("a")).keySet().stream())).containsExactly("b", "s");
    assertThat(nested.set("s").get(all().descending().limit(2)))
        .containsExactly(Value.of("z"), Value.of("y"));
    assertThat(nested.set("s").stream(all().limit(1))).hasSize(3);
  }

  private static List<String> names(Stream<FieldId> fields) {
    return fields.map(FieldId::name).toList();
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, bank"})
  void typedSets_haveTheOrderOfTheirValues(String how, String name) {
    TypedSet<Integer> set = ways.here(how, name).set("typed", Integer.class);
    set.addAll(List.of(3, 1, 2, 10));
    assertThat(set.first()).contains(1);
    assertThat(set.last()).contains(10);
    assertThat(set.get(Range.after(1).limit(2))).containsExactly(2, 3);
    assertThat(set.stream(Range.<Integer>all().descending().limit(1))).containsExactly(10, 3, 2, 1);
  }

  /** What has expired is not there, whatever of it is left. */
  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop"})
  void whatHasExpired_isNotShown(String how, String name) {
    SetHandle set = ways.here(how, name).set("mortal");
    set.add("b", "d");
    set.expiring(Duration.ofHours(1)).add("a", "c");
    set.expireAfter(List.of(Value.of("a")), Duration.ZERO);
    assertThat(set.get(all().limit(2))).containsExactly(Value.of("b"), Value.of("c"));
    assertThat(set.first()).contains(Value.of("b"));
  }

  /** A transaction reads what it has itself written, and of a causal keyspace the set as it was. */
  @BothWays
  void transaction_readsItsSnapshot(String how) {
    Keyspace bank = ways.here(how, "bank");
    bank.set("ledger").add(numbers(0, 10));
    try (Transaction transaction = bank.begin()) {
      SetHandle ledger = transaction.set("ledger");
      assertThat(ledger.get(Range.after(Value.of(7)))).isEqualTo(numbers(8, 10));
      bank.set("ledger").add(numbers(10, 12));
      ledger.add(numbers(20, 21));
      assertThat(ledger.stream(Range.from(Value.of(8)).limit(1)))
          .containsExactly(Value.of(8), Value.of(9), Value.of(20));
      transaction.commit();
    }
    assertThat(bank.set("ledger").stream(Range.after(Value.of(9))))
        .containsExactly(Value.of(10), Value.of(11), Value.of(20));
    assertThat(bank.set("ledger").last()).contains(Value.of(20));
  }

  @ParameterizedTest
  @CsvSource({"network, shop", "embedded, shop"})
  void wrongRanges_areRefused(String how, String name) {
    SetHandle set = ways.here(how, name).set("refused");
    assertThatThrownBy(() -> all().limit(0)).isInstanceOf(OsierException.class);
    assertThatThrownBy(() -> Range.from(null)).hasMessageContaining("an end of a range");
    assertThatThrownBy(() -> set.get((Range<Value>) null)).hasMessageContaining("a range");
    assertThatThrownBy(() -> set.stream(null)).hasMessageContaining("a range");
    assertThatThrownBy(() -> set.intersection(null)).hasMessageContaining("a set");
    ways.here(how, name).counter("a counter").increment();
    assertThatThrownBy(() -> ways.here(how, name).set("a counter").get(all()))
        .isInstanceOf(OsierException.class);
  }
}
