package io.osier.datacenter.embedded;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.osier.core.ErrorCode;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.proxy.FieldType;
import io.osier.proxy.Keyspace;
import io.osier.proxy.ObjectSpace;
import io.osier.proxy.RecordMap;
import io.osier.proxy.Transaction;
import io.osier.proxy.TypedMultiRegister;
import io.osier.proxy.TypedRegister;
import io.osier.proxy.TypedSet;
import io.osier.proxy.values.KryoValues;
import io.osier.proxy.values.ValueCodec;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Objects of a program's classes in registers, sets and maps. */
@NullUnmarked // what is null is refused, or stands for what is not there
final class TypedHandlesTest {
  record Point(int x, int y) {}

  enum Level {
    LOW,
    HIGH
  }

  record User(
      String name,
      Optional<Point> home,
      int age,
      boolean active,
      Level level,
      Set<Point> places,
      @FieldType(CrdtType.PN_COUNTER) long visits,
      @FieldType(CrdtType.G_SET) Set<String> ever,
      @FieldType(CrdtType.MV_REGISTER) List<String> moods) {
    User withVisits(long now) {
      return new User(name, home, age, active, level, places, now, ever, moods);
    }
  }

  private static final KryoValues VALUES = KryoValues.builder().register(1, Point.class).build();

  @AutoClose private static final Ways ways = new Ways(Ways.KEYSPACES, "dir = \"\"", VALUES);

  @EachWay
  void objects_areKept(String how, String name) {
    Keyspace keyspace = ways.here(how, name);
    everything(keyspace, "");
    if (name.equals("bank")) {
      try (Transaction tx = keyspace.begin()) {
        everything(tx, "tx-");
        tx.commit();
      }
      assertThat(keyspace.register("tx-r", Point.class).get()).contains(new Point(2, 2));
      assertThat(keyspace.map("tx-m", User.class).get().orElseThrow().visits()).isEqualTo(5);
    }
  }

  private static void everything(ObjectSpace space, String prefix) {
    TypedRegister<Point> register = space.register(prefix + "r", Point.class);
    assertThat(register.get()).isEmpty();
    register.assign(new Point(1, 2));
    assertThat(register.getAndAssign(new Point(2, 2))).contains(new Point(1, 2));
    assertThat(register.get()).contains(new Point(2, 2));

    TypedMultiRegister<Point> several = space.multiRegister(prefix + "mv", Point.class);
    several.assign(new Point(1, 1));
    assertThat(several.getAndAssign(new Point(3, 3))).containsExactly(new Point(1, 1));
    assertThat(several.get()).containsExactly(new Point(3, 3));
    several.clear();
    assertThat(several.get()).isEmpty();

    TypedSet<Point> set = space.set(prefix + "s", Point.class);
    set.add(new Point(1, 1), new Point(2, 2));
    assertThat(set.addNew(List.of(new Point(2, 2), new Point(3, 3))))
        .containsExactly(new Point(3, 3));
    assertThat(set.contains(new Point(3, 3))).isTrue();
    assertThat(set.removePresent(Set.of(new Point(1, 1), new Point(9, 9))))
        .containsExactly(new Point(1, 1));
    assertThat(set.among(List.of(new Point(1, 1), new Point(2, 2))))
        .containsExactly(new Point(2, 2));
    assertThat(set.get()).containsExactlyInAnyOrder(new Point(2, 2), new Point(3, 3));
    set.remove(new Point(2, 2));
    assertThat(set.size()).isEqualTo(1);
    assertThat(space.removeWinsSet(prefix + "rw").as(Level.class).addNew(List.of(Level.HIGH)))
        .containsExactly(Level.HIGH);
    assertThat(space.map(prefix + "fields").set("levels", Level.class).addNew(List.of(Level.LOW)))
        .containsExactly(Level.LOW);

    RecordMap<User> map = space.map(prefix + "m", User.class);
    assertThat(map.get()).isEmpty();
    User ada =
        new User(
            "Ada",
            Optional.of(new Point(1, 1)),
            36,
            true,
            Level.HIGH,
            Set.of(new Point(1, 1)),
            3,
            Set.of("once"),
            List.of("glad"));
    assertThat(map.update(blank -> ada)).isEqualTo(ada);
    assertThat(map.get()).contains(ada);
    map.handle().counter("visits").increment(2);
    map.handle().register("age").assign(37);
    User now = map.get().orElseThrow();
    assertThat(now.visits()).isEqualTo(5);
    assertThat(now.age()).isEqualTo(37);
    User changed =
        new User("Ada", Optional.empty(), 37, false, Level.LOW, Set.of(), 5, now.ever(), List.of());
    map.update(before -> changed);
    assertThat(map.get()).contains(changed);
  }

  @Test
  void records_thatTwoChangeAtOnce_areMerged() {
    RecordMap<User> here = ways.here("network", "shop").map("both", User.class);
    RecordMap<User> there = ways.there("network", "shop").map("both", User.class);
    List<CompletableFuture<User>> all =
        IntStream.range(0, 100)
            .mapToObj(
                i -> (i % 2 == 0 ? here : there).updateAsync(u -> u.withVisits(u.visits() + 1)))
            .toList();
    all.forEach(CompletableFuture::join);
    for (RecordMap<User> map : List.of(here, there)) {
      await().until(() -> map.get().orElseThrow().visits() == 100);
    }
  }

  @Test
  void whatIsEqual_isNotWritten() {
    Keyspace shop = ways.here("network", "shop");
    RecordMap<User> map = shop.map("untouched", User.class);
    map.update(blank -> blank);
    assertThat(shop.exists("untouched")).isFalse();
  }

  record Two(@FieldType(CrdtType.PN_COUNTER) String text) {}

  record Raw(@SuppressWarnings("rawtypes") Set any) {}

  record Empty() {}

  private static final class Plain {
    @Override
    public String toString() {
      return "plain";
    }
  }

  @Test
  void whatCannotBe_isNamedBeforeAnythingIsSent() {
    Keyspace shop = ways.here("network", "shop");
    invalid(() -> shop.map("x", Two.class), "text of " + Two.class.getName());
    invalid(() -> shop.map("x", Raw.class), "any must say what is in it");
    invalid(() -> shop.map("x", Empty.class), "has no components");
    invalid(() -> shop.register("x", Thread.class), "Thread is not registered");
    invalid(() -> shop.register("x", (Class<String>) null), "a class must be given");
    invalid(() -> shop.register("x").as((ValueCodec<String>) null), "a codec must be given");
    invalid(() -> shop.register("x", Point.class).assign(null), "an object must be given");
    invalid(() -> shop.set("x", Point.class).add((Point) null), "an object must be given");
    RecordMap<User> map = shop.map("wrong", User.class);
    invalid(() -> map.update(u -> null), "a record must be made");
    map.update(
        u ->
            new User(
                "x", Optional.empty(), 0, false, Level.LOW, Set.of(), 0, Set.of("a"), List.of()));
    invalid(
        () ->
            map.update(
                u ->
                    new User(
                        null, u.home(), 0, false, Level.LOW, Set.of(), 0, u.ever(), u.moods())),
        "name cannot be stored as null");
    invalid(
        () ->
            map.update(
                u ->
                    new User("y", u.home(), 0, false, Level.LOW, Set.of(), 0, Set.of(), u.moods())),
        "ever is a set that only grows");
    invalid(
        () ->
            map.update(
                u -> new User("y", u.home(), 0, false, Level.LOW, null, 0, u.ever(), u.moods())),
        "places is a set");
    assertThatThrownBy(
            () ->
                map.update(
                    u -> {
                      throw new IllegalStateException("the program's own");
                    }))
        .hasStackTraceContaining("the program's own");
    assertThat(map.get().orElseThrow().name()).isEqualTo("x");
  }

  @Test
  void codecsThatMisbehave_areNamed() {
    Keyspace shop = ways.here("network", "shop");
    AtomicInteger calls = new AtomicInteger();
    ValueCodec<Plain> other = codec(p -> Value.of(calls.incrementAndGet()), v -> new Plain());
    invalid(() -> shop.set("codec").as(other).add(new Plain()), "gives one object two values");
    ValueCodec<Plain> noEquals = codec(p -> Value.of("p"), v -> new Plain());
    invalid(() -> shop.set("codec").as(noEquals).add(new Plain()), "does its class have equals?");
    ValueCodec<Plain> throwing =
        codec(
            p -> {
              throw new IllegalStateException("cannot");
            },
            v -> {
              throw new IllegalStateException("cannot");
            });
    invalid(() -> shop.register("codec-r").as(throwing).assign(new Plain()), "cannot");
    ValueCodec<Plain> endless = codec(TypedHandlesTest::endless, v -> new Plain());
    invalid(() -> shop.register("codec-r").as(endless).assign(new Plain()), "StackOverflowError");
    invalid(
        () -> shop.register("codec-r").as(codec(p -> null, v -> null)).assign(new Plain()),
        "a codec's value must be given");
    assertThat(shop.exists("codec")).isFalse();
    assertThat(shop.exists("codec-r")).isFalse();

    shop.register("codec-r").assign("text");
    malformed(() -> shop.register("codec-r").as(throwing).get(), "cannot");
    malformed(() -> shop.register("codec-r", Point.class).get(), "is no " + Point.class.getName());
    malformed(() -> shop.register("codec-r", Long.class).get(), "is no long but a string");
    malformed(() -> shop.register("codec-r", Level.class).get(), "is no constant of");
    shop.set("folded").add("A", "a");
    ValueCodec<String> folding =
        new ValueCodec<>() {
          @Override
          public Value encode(String object) {
            return Value.of(object);
          }

          @Override
          public String decode(Value value) {
            return ((Value.Str) value).content().toLowerCase(Locale.ROOT);
          }
        };
    malformed(() -> shop.set("folded").as(folding).get(), "decode to equal objects");
  }

  /** Of a tree that contains itself. */
  private static Value endless(Plain plain) {
    return plain == null ? Value.of(0) : endless(new Plain());
  }

  private static ValueCodec<Plain> codec(
      Function<Plain, Value> encoder, Function<Value, Plain> decoder) {
    return new ValueCodec<>() {
      @Override
      public Value encode(Plain object) {
        return encoder.apply(object);
      }

      @Override
      public Plain decode(Value value) {
        return decoder.apply(value);
      }
    };
  }

  private static void invalid(Runnable action, String why) {
    error(action, ErrorCode.INVALID_ARGUMENT, why);
  }

  private static void malformed(Runnable action, String why) {
    error(action, ErrorCode.MALFORMED, why);
  }

  private static void error(Runnable action, ErrorCode code, String why) {
    refused(code, action::run).hasMessageContaining(why);
  }
}
