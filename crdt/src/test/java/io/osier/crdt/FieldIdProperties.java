package io.osier.crdt;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

final class FieldIdProperties {
  /** Few letters, so that many begin alike; those beyond ASCII are in another order as bytes. */
  @Provide
  Arbitrary<FieldId> fields() {
    Arbitrary<String> names =
        Arbitraries.of("a", "b", "\u00e9", "\uffee", "\ud83d\ude00")
            .list()
            .ofMinSize(1)
            .ofMaxSize(4)
            .map(letters -> String.join("", letters));
    return Combinators.combine(names, Arbitraries.of(CrdtType.class)).as(FieldId::new);
  }

  @Property(tries = 500)
  void comparingBytes_isReadingAndComparing_andGoesPastThem(
      @ForAll @From("fields") FieldId written, @ForAll @From("fields") FieldId with) {
    byte[] bytes =
        WireOutput.bytesOf(
            out -> {
              written.write(out);
              out.writeByte(7);
            });
    WireInput in = new WireInput(bytes);
    assertThat(Integer.signum(with.compare(in))).isEqualTo(Integer.signum(written.compareTo(with)));
    assertThat(in.readByte()).isEqualTo((byte) 7);
  }
}
