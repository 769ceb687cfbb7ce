package io.osier.datacenter.store.records;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.codec.MalformedException;
import io.osier.crdt.CrdtType;
import io.osier.crdt.ObjectId;
import java.util.EnumSet;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Types in records' keys and values: each has a byte of its own. */
final class RecordTypesTest {
  private static final ObjectId OBJECT = new ObjectId(Key.of("a\0b"), CrdtType.MAX_REGISTER);

  private final byte[] key = new RecordKeys(1).inPlace(OBJECT);
  private final byte[] logged = RecordValues.logged(OBJECT);

  private static void refused(ThrowingCallable reading) {
    assertThatThrownBy(reading)
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("type number 40 is unknown");
  }

  @Test
  void everyType_isReadBack() {
    assertThat(RecordKeys.object(key)).isEqualTo(OBJECT);
    assertThat(RecordValues.logged(logged)).isEqualTo(OBJECT);
    Set<CrdtType> all = EnumSet.allOf(CrdtType.class);
    assertThat(RecordValues.types(RecordValues.types(all))).isEqualTo(all);
  }

  @Test
  void typeOfTheFuture_isRefusedByItsNumber() {
    key[RecordKeys.objectLength(key) - 1] = 40;
    refused(() -> RecordKeys.object(key));
    logged[0] = 40;
    refused(() -> RecordValues.logged(logged));
    refused(() -> RecordValues.types(new byte[] {16, 40}));
  }
}
