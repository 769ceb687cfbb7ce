package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Grant.Right;
import io.osier.testing.Refused;
import java.util.Arrays;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

final class GrantProperties {
  /** Keys of few letters, so that they begin alike, and of bytes that are not text. */
  @Provide
  Arbitrary<Key> keys() {
    return Arbitraries.of((byte) 'a', (byte) 'b', (byte) ' ', (byte) '*', (byte) 0, (byte) 0xff)
        .array(byte[].class)
        .ofMinSize(1)
        .ofMaxSize(4)
        .map(Key::of);
  }

  @Provide
  Arbitrary<Grant> grants() {
    return Combinators.combine(
            Arbitraries.of(Right.class),
            Arbitraries.of("shop", "bank").optional(),
            keys().optional())
        .as(Grant::new);
  }

  @Property
  void text_isReadAgain(@ForAll("grants") Grant grant) {
    assertThat(Grant.parse(grant.toString())).isEqualTo(grant);
  }

  @Property
  void covers_aKey_isWhatItsPartsSay(
      @ForAll("grants") Grant grant, @ForAll Right right, @ForAll("keys") Key key) {
    boolean begins =
        grant.prefix().isEmpty()
            || Arrays.mismatch(key.toBytes(), grant.prefix().get().toBytes()) == -1
            || Arrays.mismatch(key.toBytes(), grant.prefix().get().toBytes())
                == grant.prefix().get().length();
    boolean expected =
        grant.right() == right
            && (grant.keyspace().isEmpty() || grant.keyspace().get().equals("shop"))
            && begins;
    assertThat(grant.covers(right, "shop", key)).isEqualTo(expected);
  }

  @Property
  void covers_anotherGrant_impliesAllThatItCovers(
      @ForAll("grants") Grant a, @ForAll("grants") Grant b, @ForAll("keys") Key key) {
    if (a.covers(b)) {
      for (Right right : Right.values()) {
        if (b.covers(right, "shop", key)) {
          assertThat(a.covers(right, "shop", key)).isTrue();
        }
      }
    }
  }

  @Property
  void covers_isReflexiveAndTransitive(
      @ForAll("grants") Grant a, @ForAll("grants") Grant b, @ForAll("grants") Grant c) {
    assertThat(a.covers(a)).isTrue();
    if (a.covers(b) && b.covers(c)) {
      assertThat(a.covers(c)).isTrue();
    }
  }

  @Property
  void coversKey_isCoveringTheGrantOfThatKey(
      @ForAll("grants") Grant grant, @ForAll Right right, @ForAll("keys") Key key) {
    assertThat(grant.covers(Grant.on(right, "shop", key)))
        .isEqualTo(grant.covers(right, "shop", key));
  }

  @Example
  void texts_ofTheDocumentation() {
    assertThat(Grant.parse("read shop")).isEqualTo(Grant.on(Right.READ, "shop"));
    assertThat(Grant.parse("write shop cart:"))
        .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of("cart:")));
    assertThat(Grant.parse("write shop 0x00ff"))
        .isEqualTo(Grant.on(Right.WRITE, "shop", Key.of(new byte[] {0, (byte) 0xff})));
    assertThat(Grant.parse("admin *")).isEqualTo(Grant.onAll(Right.ADMIN));
    assertThat(new Grant(Right.READ, Optional.empty(), Optional.of(Key.of("a"))))
        .hasToString("read * a");
  }

  @Example
  void text_thatIsNone_isRefusedWithWhatIsAllowed() {
    for (String text :
        new String[] {
          "",
          "read",
          "READ shop",
          "own shop",
          "read sh/op",
          "read shop cart:*",
          "read shop 0xf",
          "read shop 0x"
        }) {
      assertThatThrownBy(() -> Grant.parse(text))
          .as(text)
          .is(Refused.with(ErrorCode.INVALID_ARGUMENT));
    }
  }
}
