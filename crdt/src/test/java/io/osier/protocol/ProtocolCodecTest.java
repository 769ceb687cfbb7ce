package io.osier.protocol;

import static io.osier.protocol.SampleMessages.EU;
import static io.osier.protocol.SampleMessages.KEY;
import static io.osier.protocol.SampleMessages.aged;
import static io.osier.protocol.SampleMessages.replies;
import static io.osier.protocol.SampleMessages.requests;
import static io.osier.protocol.SampleMessages.whereKeyspacesAre;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.Query;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class ProtocolCodecTest {
  @Test
  void everyMessage_isReadBack() {
    long id = 0;
    for (Request request : requests()) {
      assertThat(ProtocolCodec.decodeRequest(ProtocolCodec.encode(++id, request)))
          .isEqualTo(new Envelope<>(id, request));
    }
    for (Reply reply : replies()) {
      assertThat(ProtocolCodec.decodeReply(ProtocolCodec.encode(++id, reply)))
          .isEqualTo(new Envelope<>(id, reply));
    }
  }

  /** In each request that names a type. */
  @Test
  void typeOfTheFuture_isRefusedByItsNumber() {
    Operation assign = new Operation.Assign(Value.of(5));
    Key key = Key.of("k");
    for (Request request :
        List.of(
            new Request.Write("s", key, CrdtType.MAX_REGISTER, assign, VersionVector.EMPTY, 0),
            new Request.Read(
                "s",
                key,
                Optional.of(CrdtType.MAX_REGISTER),
                new Query.Whole(),
                VersionVector.EMPTY,
                false,
                0),
            program(new Call.Update(key, CrdtType.MAX_REGISTER, assign, Optional.empty())),
            program(new Call.Replace(key, CrdtType.MAX_REGISTER, assign, true)),
            program(new Call.Take(key, CrdtType.MAX_REGISTER, 1, 0)))) {
      byte[] bytes = ProtocolCodec.encode(1, request);
      int at = HexFormat.of().formatHex(bytes).indexOf("016b10") / 2 + 2; // behind the key
      assertThat(bytes[at]).isEqualTo((byte) CrdtType.MAX_REGISTER.number());
      bytes[at] = 40;
      assertThatThrownBy(() -> ProtocolCodec.decodeRequest(bytes))
          .isInstanceOf(MalformedException.class)
          .hasMessageContaining("type number 40 is unknown");
    }
  }

  private static Request.Evaluate program(Call call) {
    return new Request.Evaluate("s", List.of(call), List.of(), VersionVector.EMPTY, 0);
  }

  @Test
  void callThatMakesNoSense_isRefused() {
    Operation clear = new Operation.Clear();
    for (Runnable wrong :
        List.<Runnable>of(
            () -> new Call.Rename(KEY, Key.of("k"), false),
            () -> new Call.Copy(KEY, Key.of("k"), true),
            () -> new Call.Replace(KEY, CrdtType.STRING, new Operation.Delete(), true),
            () -> new Call.Take(KEY, CrdtType.AW_SET, 0, 0),
            () -> new Call.Script(List.of(), false, 0, ask -> {}),
            () ->
                ProtocolCodec.encode(
                    1, program(new Call.Script(List.of(KEY), true, 0, ask -> {}))))) {
      assertThatThrownBy(wrong::run)
          .isInstanceOf(OsierException.class)
          .hasMessageStartingWith("INVALID_ARGUMENT");
    }
    byte[] bytes =
        ProtocolCodec.encode(
            1, program(new Call.Update(KEY, CrdtType.STRING, clear, Optional.empty())));
    int at = HexFormat.of().formatHex(bytes).indexOf("03016b") / 2; // the call's kind and key
    bytes[at] = 77;
    assertThatThrownBy(() -> ProtocolCodec.decodeRequest(bytes))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("call 77 of a program is unknown");
  }

  /**
   * One sum over all forms: any change of any message's bytes is noticed, and must be made on
   * purpose.
   */
  @Test
  void forms_areThoseOfVersionOne() {
    StringBuilder all = new StringBuilder();
    StringBuilder programs = new StringBuilder();
    for (Request r : requests()) {
      (r instanceof Request.Evaluate ? programs : all)
          .append(HexFormat.of().formatHex(ProtocolCodec.encode(1, r)));
    }
    for (Reply r : replies()) {
      if (whereKeyspacesAre().contains(r) || r.equals(aged())) {
        continue;
      }
      (r instanceof Reply.Evaluated ? programs : all)
          .append(HexFormat.of().formatHex(ProtocolCodec.encode(1, r)));
    }
    assertThat(HexFormat.of().formatHex(ProtocolCodec.encode(1, requests().getFirst())))
        .isEqualTo(
            "0101010104"
                + HexFormat.of()
                    .formatHex("test".getBytes(java.nio.charset.StandardCharsets.US_ASCII)));
    assertThat(HexFormat.of().formatHex(ProtocolCodec.encode(2, new Reply.Done(new Dot(EU, 5)))))
        .isEqualTo("0102030002657507" + "05");
    assertThat(all.toString().hashCode()).as("forms changed: %s", all).isEqualTo(FORMS_HASH);
    assertThat(programs.toString().hashCode())
        .as("forms changed: %s", programs)
        .isEqualTo(PROGRAMS_HASH);
  }

  /** An answer without an age is as it was. */
  @Test
  void formOfAnswer_saysItsAgeInFront_andThatOfOneWithoutAnAgeHasNone() {
    Reply.Answer aged = aged();
    Reply.Answer current =
        new Reply.Answer(aged.type(), aged.reading(), aged.exists(), aged.seen());
    String rest = hex(ProtocolCodec.encode(1, current)).substring("010104".length());
    assertThat(hex(ProtocolCodec.encode(1, current))).startsWith("010104");
    assertThat(hex(ProtocolCodec.encode(1, aged))).isEqualTo("010113" + "b960" + rest);
    byte[] part = ProtocolCodec.encode(1, new Reply.All(List.of(aged)));
    assertThatThrownBy(() -> ProtocolCodec.decodeReply(part))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("reply 19 is no part of a batch");
  }

  /** The forms of former versions stay as they were: later additions have types of their own. */
  @Test
  void formsOfWhereKeyspacesAre() {
    String here = "01" + text("ks") + "d00f" + "02" + "00";
    String elsewhere =
        "02"
            + (text("carts") + "f403" + "04" + "00" + "02" + text("eu") + text("us"))
            + (text("bank") + "64" + "01" + "01" + "01" + text("us"))
            + "02"
            + (text("eu") + text("eu.example:7400"))
            + (text("us") + text("us.example:7400"));
    assertThat(whereKeyspacesAre().stream().map(r -> hex(ProtocolCodec.encode(1, r))))
        .containsExactly(
            "01010a" + here,
            "010112" + here + elsewhere,
            "010111" + "0a" + "0002657507" + here + elsewhere);
    assertThat(hex(ProtocolCodec.encode(1, replies().getFirst())))
        .isEqualTo("010101" + "01" + "0002657507" + here);
  }

  /** Former versions cannot read a keyspace that is hashed by tag. */
  @Test
  void formOfKeyspace_saysHowItIsHashed_andIsCheckedBothWays() {
    for (boolean causal : new boolean[] {false, true}) {
      for (Partitioning.Hash hash : Partitioning.Hash.values()) {
        Partitioning by = new Partitioning(causal ? 1 : 256, hash);
        Reply told = new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("ks", 2_000, by, causal)));
        byte[] bytes = ProtocolCodec.encode(1, told);
        assertThat(bytes[bytes.length - 1])
            .isEqualTo((byte) ((causal ? 1 : 0) + (by.isByTag() ? 2 : 0)));
        assertThat(ProtocolCodec.decodeReply(bytes).message()).isEqualTo(told);
        bytes[bytes.length - 1] = (byte) (bytes[bytes.length - 1] + 8);
        assertThatThrownBy(() -> ProtocolCodec.decodeReply(bytes))
            .isInstanceOf(MalformedException.class)
            .hasMessageContaining("flags");
      }
    }
    Partitioning withHome =
        new Partitioning(2, Partitioning.Hash.TAG, new Homes(List.of("eu", "us")));
    Reply homes = new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("ks@eu", 5, withHome, false)));
    byte[] bytes = ProtocolCodec.encode(1, homes);
    assertThat(ProtocolCodec.decodeReply(bytes).message()).isEqualTo(homes);
    bytes[bytes.length - 1] = '@'; // of us
    assertThatThrownBy(() -> ProtocolCodec.decodeReply(bytes))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("'u@'");
    byte[] none =
        ProtocolCodec.encode(
            1, new Reply.Keyspaces(List.of(new Reply.KeyspaceInfo("ks", 2_000, 1, false))));
    none[none.length - 2] = 0;
    assertThatThrownBy(() -> ProtocolCodec.decodeReply(none))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("0 partitions");
  }

  private static String text(String ascii) {
    byte[] bytes = ascii.getBytes(java.nio.charset.StandardCharsets.US_ASCII);
    return "%02x".formatted(bytes.length) + hex(bytes);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static final int FORMS_HASH = 965_661_661;
  private static final int PROGRAMS_HASH = -1_705_787_603;

  @Provide
  Arbitrary<byte[]> messages() {
    List<byte[]> all = new ArrayList<>();
    requests().forEach(r -> all.add(ProtocolCodec.encode(1, r)));
    replies().forEach(r -> all.add(ProtocolCodec.encode(1, r)));
    return Arbitraries.of(all);
  }

  /**
   * Bytes at some positions are replaced, some at the end are missing, and a message may go the
   * wrong way.
   */
  @Property(tries = 10_000)
  void damagedMessages_areReadOrMalformed_andNothingElse(
      @ForAll("messages") byte[] message,
      @ForAll @Size(max = 4) Map<@IntRange(max = 60) Integer, Byte> damage,
      @ForAll @IntRange(max = 30) int missing) {
    byte[] bytes = Arrays.copyOf(message, Math.max(1, message.length - missing));
    damage.forEach((at, value) -> bytes[at % bytes.length] = value);
    readOrMalformed(() -> ProtocolCodec.decodeRequest(bytes));
    readOrMalformed(() -> ProtocolCodec.decodeReply(bytes));
  }

  /** A client's operation is neither sent back to it nor logged, whatever its size. */
  @Test
  void refusal_doesNotRepeatALargeOperation() {
    byte[] call =
        WireOutput.bytesOf(
            out -> {
              out.writeByte(8); // gives a deadline under a condition
              out.writeKey(Key.of("k"));
              OperationCodec.write(out, new Operation.Assign(Value.of("x".repeat(100_000))));
            });
    assertThatThrownBy(() -> CallCodec.read(new WireInput(call)))
        .isInstanceOf(MalformedException.class)
        .hasMessageContaining("a deadline is wanted, not Assign")
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
  }

  /** Each part takes three bytes there and a hundred here: a frame of them would take the heap. */
  @Test
  void requestOfTooManyParts_isNotReadToBeRefused() {
    for (int n : new int[] {Request.PROGRAM_MAX + 1, 50_000}) {
      List<Call> calls = Collections.nCopies(n, new Call.Version(Key.of("k")));
      List<Call.Guard> guards =
          Collections.nCopies(n, new Call.Guard(Key.of("k"), VersionVector.EMPTY));
      List<Request.Fetch> reads =
          Collections.nCopies(
              n, new Request.Fetch(Key.of("k"), Optional.empty(), new Query.Whole()));
      List<Request.Update> updates =
          Collections.nCopies(
              n, new Request.Update(Key.of("k"), CrdtType.PN_COUNTER, new Operation.Increment(1)));
      for (Request request :
          List.of(
              new Request.Evaluate("k", calls, List.of(), VersionVector.EMPTY, 0),
              new Request.Evaluate("k", calls.subList(0, 1), guards, VersionVector.EMPTY, 0),
              new Request.ReadAll("k", reads, VersionVector.EMPTY, false, 0),
              new Request.WriteAll("k", updates, VersionVector.EMPTY, 0))) {
        byte[] bytes = ProtocolCodec.encode(1, request);
        if (n < 50_000) {
          assertThat(ProtocolCodec.decodeRequest(bytes).message()).isEqualTo(request);
        } else {
          assertThatThrownBy(() -> ProtocolCodec.decodeRequest(bytes))
              .isInstanceOf(MalformedException.class)
              .hasMessageContaining("at most 10000 of a kind, not 50000");
        }
      }
    }
  }

  private static void readOrMalformed(Runnable decoding) {
    try {
      decoding.run();
    } catch (MalformedException e) {
      assertThat(e.getMessage()).isNotEmpty();
    }
  }
}
