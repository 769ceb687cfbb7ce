package io.osier.proxy.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.io.Output;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.testing.Refused;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.jspecify.annotations.NullUnmarked;

/** What is stored of objects, and what becomes of it when programs change or bytes are hostile. */
@NullUnmarked // a record may hold null
final class KryoValuesTest {
  enum Color {
    RED,
    GREEN {
      @Override
      boolean isCalm() {
        return true;
      }
    };

    boolean isCalm() {
      return false;
    }
  }

  sealed interface Shape permits Circle, Square {}

  record Circle(double radius) implements Shape {}

  record Square(int side) implements Shape {}

  record Profile(
      String name,
      int age,
      long visits,
      boolean active,
      Color color,
      Shape shape,
      List<String> tags,
      Set<Shape> shapes,
      Map<String, Integer> counts,
      Optional<Profile> parent,
      Instant since,
      byte[] picture) {}

  static class Base {
    private int number = 7;
  }

  static final class Bean extends Base {
    private String text = "new";
    private Duration limit = Duration.ofSeconds(1);

    @Override
    public boolean equals(Object o) {
      return o instanceof Bean b && Objects.equals(text, b.text) && Objects.equals(limit, b.limit);
    }

    @Override
    public int hashCode() {
      return Objects.hash(text, limit);
    }
  }

  record Node(List<Object> children) {}

  private static KryoValues values() {
    return KryoValues.builder()
        .register(1, Profile.class)
        .register(2, Circle.class)
        .register(3, Square.class)
        .register(4, Color.class)
        .register(5, Bean.class)
        .register(6, Node.class)
        .build();
  }

  private static Profile profile(Optional<Profile> parent) {
    return new Profile(
        "Ada \u20ac",
        36,
        1L << 40,
        true,
        Color.GREEN,
        new Circle(2.5),
        List.of("a", "b"),
        Set.of(new Circle(1), new Square(2), new Circle(3)),
        Map.of("x", 1, "y", 2, "z", 3),
        parent,
        Instant.ofEpochSecond(1, 5),
        new byte[] {1, 2});
  }

  @Example
  void whatWasStored_comesBack() {
    ValueCodec<Profile> codec = values().codec(Profile.class);
    Profile ada = profile(Optional.of(profile(Optional.empty())));
    assertThat(codec.decode(codec.encode(ada))).usingRecursiveComparison().isEqualTo(ada);
    Profile nothing =
        new Profile(null, 0, 0, false, null, null, null, null, null, Optional.empty(), null, null);
    assertThat(codec.decode(codec.encode(nothing))).isEqualTo(nothing);
    assertThat(
            values().codec(Shape.class).decode(values().codec(Shape.class).encode(new Square(4))))
        .isEqualTo(new Square(4));
    ValueCodec<Bean> beans = values().codec(Bean.class);
    Bean bean = new Bean();
    bean.text = null;
    ((Base) bean).number = 9;
    Bean back = beans.decode(beans.encode(bean));
    assertThat(back).isEqualTo(bean);
    assertThat(((Base) back).number).isEqualTo(9);
    ValueCodec<BigDecimal> numbers = values().codec(BigDecimal.class);
    assertThat(numbers.decode(numbers.encode(new BigDecimal("1.50"))))
        .isEqualTo(new BigDecimal("1.50"));
    UUID id = new UUID(1, 2);
    assertThat(values().codec(UUID.class).decode(values().codec(UUID.class).encode(id)))
        .isEqualTo(id);
  }

  @Example
  void plainValues_stayPlain() {
    assertThat(values().codec(String.class).encode("x")).isEqualTo(Value.of("x"));
    assertThat(values().codec(long.class).encode(3L)).isEqualTo(Value.of(3));
    assertThat(values().codec(Color.class).encode(Color.GREEN)).isEqualTo(Value.of("GREEN"));
  }

  @Example
  void bytes_areTheSameInEveryVersion() {
    Value value = values().codec(Shape.class).encode(new Square(4));
    assertThat(((Value.Bytes) value).content())
        .as("another form would make what is stored unreadable")
        .isEqualTo(new byte[] {1, 69, 1, 's', 'i', 'd', (byte) ('e' | 0x80), 2, 8});
  }

  @Property(tries = 200)
  void equalObjects_haveEqualBytes(@ForAll Random random) {
    ValueCodec<Profile> codec = values().codec(Profile.class);
    List<Shape> shapes = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (int i = random.nextInt(12); i >= 0; i--) {
      shapes.add(
          random.nextBoolean() ? new Circle(random.nextInt(50)) : new Square(random.nextInt(50)));
      names.add("n" + random.nextInt(100));
    }
    Value first = null;
    for (int i = 0; i < 4; i++) {
      Collections.shuffle(shapes, random);
      Collections.shuffle(names, random);
      Set<Shape> set =
          i == 0
              ? new HashSet<>(shapes)
              : i == 1 ? Set.copyOf(new HashSet<>(shapes)) : new LinkedHashSet<>(shapes);
      Map<String, Integer> map = i % 2 == 0 ? new HashMap<>() : new TreeMap<>();
      names.forEach(name -> map.put(name, name.length()));
      List<String> sorted = new ArrayList<>(new TreeSet<>(names));
      List<String> list = i % 2 == 0 ? sorted : Collections.unmodifiableList(sorted);
      Profile one =
          new Profile(
              "x", 1, 1, true, Color.RED, null, list, set, map, Optional.empty(), null, null);
      Value value = codec.encode(one);
      first = first == null ? value : first;
      assertThat(value).isEqualTo(first);
      assertThat(codec.decode(value)).isEqualTo(one);
    }
  }

  // ---------------------------------------------------------------- programs change

  record Before(String name, int count, Square gone) {}

  record After(List<String> added, long count, String name, int[] none) {
    After {
      if (name.equals("refused")) {
        throw new IllegalArgumentException("no such name");
      }
    }
  }

  record Later(List<String> added, long count, String name) {
    Later {
      if ("refused".equals(name)) {
        throw new IllegalArgumentException("no such name");
      }
    }
  }

  record Incompatible(String count) {}

  static final class Grown {
    private String name = "nobody";
    private int added = 5;
  }

  private static KryoValues of(int number, Class<?> type) {
    return KryoValues.builder().register(number, type).register(3, Square.class).build();
  }

  @Example
  void members_mayBeAddedLeftOutAndWidened() {
    Value old = of(1, Before.class).codec(Before.class).encode(new Before("x", 3, new Square(1)));
    assertThat(of(1, Later.class).codec(Later.class).decode(old))
        .isEqualTo(new Later(null, 3, "x"));
    Grown grown = of(1, Grown.class).codec(Grown.class).decode(old);
    assertThat(grown.name).isEqualTo("x");
    assertThat(grown.added).as("as in a new object").isEqualTo(5);
    assertMalformed(
        () -> of(1, Incompatible.class).codec(Incompatible.class).decode(old),
        "Incompatible.count is a java.lang.String, and stored is a java.lang.Integer");
    Value refused = of(1, Before.class).codec(Before.class).encode(new Before("refused", 3, null));
    assertMalformed(() -> of(1, Later.class).codec(Later.class).decode(refused), "no such name");
    assertMalformed(() -> of(2, Later.class).codec(Later.class).decode(old), "65");
    assertMalformed(() -> of(1, Later.class).codec(Square.class).decode(old), "Later");
  }

  // ---------------------------------------------------------------- what is refused

  static final class Final {
    private final int x;

    Final(int x) {
      this.x = x;
    }

    int x() {
      return x;
    }
  }

  static class NoDefault {
    NoDefault(int x) {
      Objects.checkIndex(x, 1);
    }
  }

  record Concrete(ArrayList<String> list) {}

  record Arrays1(int[] numbers) {}

  record Stranger(Object any) {}

  @SuppressWarnings("ClassCanBeStatic") // that it is not is what is tested
  class Inner {}

  @Example
  void whatCannotBeStored_isNamed() {
    refused(1, Final.class, "has the final field x: make it a record");
    refused(1, NoDefault.class, "no constructor without arguments");
    refused(1, Concrete.class, "declares list as ArrayList: declare it as List");
    refused(1, Arrays1.class, "declares numbers as an array");
    refused(1, After.class, "declares none as an array");
    refused(1, Shape.class, "has no objects of its own");
    refused(1, Inner.class, "make it static");
    refused(1, String.class, "needs no number");
    refused(1, ArrayList.class, "needs no number");
    refused(0, Circle.class, "must be 1 to 1000000, not 0");
    refused(1, null, "a class must be given");
    KryoValues.Builder twice = KryoValues.builder().register(1, Circle.class);
    assertInvalid(() -> twice.register(1, Square.class), "number 1 is that of");
    assertInvalid(() -> twice.register(2, Circle.class), "is registered already");
    assertInvalid(() -> twice.build().codec(Square.class), "Square is not registered");
    KryoValues values = KryoValues.builder().register(1, Stranger.class).build();
    ValueCodec<Stranger> codec = values.codec(Stranger.class);
    assertInvalid(() -> codec.encode(new Stranger(new Circle(1))), "Circle is not registered");
    assertInvalid(() -> codec.encode(new Stranger(new Thread())), "Thread is not registered");
    List<Object> itself = new ArrayList<>();
    itself.add(itself);
    assertInvalid(() -> codec.encode(new Stranger(itself)), "depth");
    assertThat(codec.decode(codec.encode(new Stranger("fine")))).isEqualTo(new Stranger("fine"));
  }

  private static void refused(int number, Class<?> type, String why) {
    assertInvalid(() -> KryoValues.builder().register(number, type), why);
  }

  private static void assertInvalid(Runnable action, String why) {
    assertError(action, ErrorCode.INVALID_ARGUMENT, why);
  }

  private static void assertMalformed(Runnable action, String why) {
    assertError(action, ErrorCode.MALFORMED, why);
  }

  private static void assertError(Runnable action, ErrorCode code, String why) {
    assertThatThrownBy(action::run).is(Refused.with(code)).hasMessageContaining(why);
  }

  // ---------------------------------------------------------------- hostile bytes

  @Property(tries = 2_000)
  void anyBytes_areAnObjectOrMalformed(@ForAll Random random, @ForAll byte[] bytes) {
    ValueCodec<Profile> codec = values().codec(Profile.class);
    byte[] base = ((Value.Bytes) codec.encode(profile(Optional.empty()))).content();
    byte[] changed = random.nextBoolean() ? bytes.clone() : base.clone();
    for (int i = random.nextInt(4); i >= 0 && changed.length > 0; i--) {
      changed[random.nextInt(changed.length)] = (byte) random.nextInt();
    }
    if (changed.length > 0 && random.nextInt(4) > 0) {
      changed[0] = 1;
    }
    try {
      codec.decode(new Value.Bytes(Arrays.copyOf(changed, random.nextInt(changed.length + 1))));
    } catch (OsierException e) {
      assertThat(e.code()).isEqualTo(ErrorCode.MALFORMED);
    }
  }

  @Example
  void lengthsThatAreNotThere_takeNoMemory() {
    ValueCodec<Profile> codec = values().codec(Profile.class);
    for (int known = 0; known < 40; known++) {
      for (boolean flag : new boolean[] {false, true}) {
        try (Output out = new Output(64)) {
          out.writeByte(1);
          out.writeVarInt(known, true);
          if (flag) {
            out.writeVarIntFlag(true, Integer.MAX_VALUE - 8, true);
          } else {
            out.writeVarInt(Integer.MAX_VALUE - 8, true);
          }
          Value value = new Value.Bytes(out.toBytes());
          assertThatThrownBy(() -> codec.decode(value)).isInstanceOf(OsierException.class);
        }
      }
    }
  }

  @Example
  void otherFormsAndValues_areNamed() {
    ValueCodec<Circle> codec = values().codec(Circle.class);
    assertMalformed(() -> codec.decode(Value.of("text")), "no bytes of Kryo's");
    assertMalformed(() -> codec.decode(Value.of(new byte[0])), "no bytes of Kryo's");
    assertMalformed(
        () -> codec.decode(Value.of("{}".getBytes(StandardCharsets.UTF_8))), "its format is 123");
    byte[] bytes = ((Value.Bytes) codec.encode(new Circle(1))).content();
    assertMalformed(
        () -> codec.decode(Value.of(Arrays.copyOf(bytes, bytes.length + 1))), "1 bytes are left");
  }

  @Example
  void manyThreads_shareIt() {
    ValueCodec<Profile> codec = values().codec(Profile.class);
    Profile ada = profile(Optional.of(profile(Optional.empty())));
    Value expected = codec.encode(ada);
    CompletableFuture<?>[] all =
        IntStream.range(0, 8)
            .mapToObj(
                t ->
                    CompletableFuture.runAsync(
                        () -> {
                          for (int i = 0; i < 200; i++) {
                            assertThat(codec.encode(codec.decode(expected))).isEqualTo(expected);
                          }
                        }))
            .toArray(CompletableFuture<?>[]::new);
    CompletableFuture.allOf(all).join();
  }

  record Failing(String name) {
    @Override
    public String name() {
      throw new IllegalStateException("not now");
    }
  }

  @Example
  void objectThatFailsWhileItIsRead_isTheCallersFault() {
    KryoValues values = KryoValues.builder().register(20, Failing.class).build();
    assertThatThrownBy(() -> values.codec(Failing.class).encode(new Failing("x")))
        .is(Refused.with(ErrorCode.INVALID_ARGUMENT))
        .hasMessageContaining("cannot be stored");
  }
}
