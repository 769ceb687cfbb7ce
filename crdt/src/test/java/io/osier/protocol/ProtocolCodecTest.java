package io.osier.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.OperationCodec;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

final class ProtocolCodecTest {
  private static final ReplicaId EU = new ReplicaId("eu", 7);
  private static final Key KEY = Key.of("k");
  private static final VersionVector SEEN = VersionVector.of(EU, 5);

  private static List<Request> requests() {
    List<Request> all = new ArrayList<>();
    all.add(new Request.Hello(1, "test"));
    all.add(new Request.Ping());
    for (Query query :
        List.of(
            new Query.Whole(),
            new Query.Contains(Value.of(3)),
            new Query.Among(List.of(Value.of(3), Value.of("b"))),
            new Query.Size(),
            new Query.Exists(),
            new Query.TimeToLive(),
            new Query.Range(
                Optional.of(new Query.Bound(new Part.Element(Value.of(3)), true)),
                Optional.empty(),
                true,
                7),
            new Query.Select(List.of("f")))) {
      all.add(new Request.Read("ks", KEY, Optional.of(CrdtType.AW_SET), query, SEEN, true, 100));
    }
    all.add(
        new Request.Read(
            "ks", KEY, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 0));
    for (Operation operation :
        List.of(
            new Operation.Increment(-4),
            new Operation.Assign(Value.of(2.5)),
            new Operation.SetFlag(true),
            new Operation.Add(List.of(Value.of("a"), Value.of(new byte[] {1}))),
            new Operation.Remove(Value.of(9)),
            new Operation.UpdateFields(
                new FieldId("f", CrdtType.PN_COUNTER), new Operation.Increment(1)),
            new Operation.RemoveFields(List.of("f", "g")),
            new Operation.Clear(),
            new Operation.Delete(),
            new Operation.Expire(5_000, true),
            new Operation.WithDeadline(
                new Operation.Increment(3), new Operation.Expire(5_000, true)),
            new Operation.Persist())) {
      all.add(new Request.Write("ks", KEY, CrdtType.OR_MAP, operation, SEEN, 100));
    }
    for (boolean before : new boolean[] {true, false}) {
      all.add(
          new Request.Write(
              "ks",
              KEY,
              CrdtType.PN_COUNTER,
              new Operation.Increment(1),
              SEEN,
              100,
              Optional.of(new Request.Ask(before, new Query.Whole()))));
    }
    for (List<FieldId> path :
        List.of(
            List.<FieldId>of(),
            List.of(new FieldId("f", CrdtType.OR_MAP), new FieldId("g", CrdtType.LWW_REGISTER)))) {
      all.add(
          new Request.Write(
              "ks",
              KEY,
              CrdtType.OR_MAP,
              new Operation.Clear(),
              SEEN,
              100,
              Optional.empty(),
              Optional.of(
                  new Request.Condition(
                      path,
                      new Query.Whole(),
                      new Reading.Single(Optional.of(Value.of("expected")))))));
    }
    all.add(new Request.Scan("ks", Optional.of(KEY), Optional.empty(), new Query.Whole(), 10));
    for (Request.Want want : Request.Want.values()) {
      all.add(
          new Request.Scan(
              "ks",
              Optional.of(KEY),
              Optional.of(Key.of("l")),
              Optional.of(CrdtType.AW_SET),
              new Query.Exists(),
              10,
              want));
    }
    all.add(
        new Request.Scan(
            "ks",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            new Query.Whole(),
            1,
            Request.Want.COUNT));
    all.add(new Request.Inspect(Request.Topic.HOT, Optional.of("ks"), 5));
    all.add(new Request.Backup(Optional.of("friday")));
    all.add(new Request.Backup(Optional.empty()));
    all.add(
        new Request.Transact(
            "ks",
            new TransactionId(1, -2),
            1,
            Optional.of(new Request.Begin(SEEN, true, 5, 1_000)),
            List.of(new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(3))),
            List.of(new Request.Fetch(KEY, Optional.empty(), new Query.Whole())),
            Request.End.COMMIT));
    all.add(
        new Request.Transact(
            "ks",
            new TransactionId(-1, 2),
            2,
            Optional.empty(),
            List.of(),
            List.of(),
            Request.End.ABORT));
    all.add(new Request.Repeat(EU, 9, (Request.Transact) all.getLast()));
    all.add(new Request.Login(2, "cart", "n,,n=cart,r=abc"));
    all.add(new Request.Proof("c=biws,r=abcdef,p=AAAA"));
    all.add(new Request.Through("ks", 3));
    all.add(
        new Request.ReadAll(
            "ks",
            List.of(
                new Request.Fetch(KEY, Optional.of(CrdtType.AW_SET), new Query.Size()),
                new Request.Fetch(Key.of("l"), Optional.empty(), new Query.Exists())),
            SEEN,
            true,
            100));
    all.add(
        new Request.WriteAll(
            "ks",
            List.of(
                new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(3)),
                new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Clear())),
            SEEN,
            100));
    all.add(new Request.Watch("ks", Optional.of(KEY), false, List.of(), false, 100));
    all.add(new Request.Watch("ks", Optional.empty(), true, places(), true, 0));
    all.add(new Request.Evaluate("ks", calls(), List.of(new Call.Guard(KEY, SEEN)), SEEN, 100));
    all.add(
        new Request.Evaluate(
            "ks", List.of(new Call.Version(KEY)), List.of(), VersionVector.EMPTY, 0));
    return all;
  }

  /** One of each kind, and of what each may have. */
  private static List<Call> calls() {
    Key other = Key.of("l");
    List<Call> calls = new ArrayList<>();
    calls.add(new Call.Read(KEY, Optional.empty(), new Query.Whole()));
    calls.add(new Call.Read(KEY, Optional.of(CrdtType.AW_SET), new Query.Size()));
    calls.add(new Call.Version(other));
    calls.add(new Call.Update(KEY, CrdtType.STRING, new Operation.Increment(3), Optional.empty()));
    calls.add(
        new Call.Update(
            KEY,
            CrdtType.STRING,
            new Operation.Increment(3),
            Optional.of(new Request.Ask(true, new Query.Whole()))));
    for (boolean either : new boolean[] {true, false}) {
      calls.add(
          new Call.Replace(KEY, CrdtType.STRING, new Operation.Assign(Value.of("v")), either));
      calls.add(new Call.Rename(KEY, other, either));
      calls.add(new Call.Copy(other, KEY, either));
    }
    calls.add(new Call.Take(KEY, CrdtType.AW_SET, 3, -5));
    for (Call.When when : Call.When.values()) {
      calls.add(new Call.ExpireIf(KEY, new Operation.Expire(7, true), when));
    }
    calls.add(
        new Call.Test(
            KEY,
            Optional.empty(),
            new Request.Condition(
                List.of(new FieldId("f", CrdtType.STRING)),
                new Query.Whole(),
                new Reading.Single(Optional.empty()))));
    return calls;
  }

  private static List<Request.Place> places() {
    return List.of(
        new Request.Place(-7, 300, SEEN, Optional.empty()),
        new Request.Place(9, 0, VersionVector.EMPTY, Optional.of(KEY)));
  }

  private static List<Reply> replies() {
    TreeMap<FieldId, Reading> fields = new TreeMap<>();
    fields.put(new FieldId("f", CrdtType.PN_COUNTER), new Reading.Count(3));
    List<Reply> all = new ArrayList<>();
    all.add(new Reply.Welcome(1, EU, List.of(new Reply.KeyspaceInfo("ks", 2_000, 2, false))));
    all.add(new Reply.Pong());
    all.add(new Reply.Done(new Dot(EU, 5)));
    all.add(
        new Reply.Done(
            new Dot(EU, 6),
            Optional.of(new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), SEEN))));
    for (Reading reading :
        List.of(
            new Reading.Count(-3),
            new Reading.Flag(true),
            new Reading.Single(Optional.of(Value.of("v"))),
            new Reading.Single(Optional.empty()),
            new Reading.Many(List.of(Value.of(1), Value.of(2))),
            new Reading.Fields(fields))) {
      all.add(new Reply.Answer(CrdtType.OR_MAP, reading, SEEN));
    }
    all.add(
        new Reply.Transacted(
            SEEN,
            Optional.of(new Dot(EU, 6)),
            List.of(new Reply.Answer(Optional.empty(), Optional.empty(), false, SEEN))));
    all.add(
        new Reply.Page(
            List.of(new Reply.Row(KEY, CrdtType.PN_COUNTER, new Reading.Count(1))),
            Optional.of(Key.of("l")),
            List.of(SEEN, VersionVector.EMPTY)));
    all.add(new Reply.Counted(70_000, Optional.of(Key.of("l")), List.of(SEEN)));
    all.add(
        new Reply.Changes(
            List.of(
                new Reply.Change(KEY, Optional.of(CrdtType.AW_SET), Optional.of(EU)),
                new Reply.Change(Key.of("l"), Optional.empty(), Optional.empty())),
            places(),
            true));
    all.add(new Reply.Report("{}"));
    all.add(new Reply.Through(SEEN));
    all.add(new Reply.Challenge("r=abcdef,s=AAAA,i=4096"));
    all.add(new Reply.Failure(ErrorCode.OVERLOADED, "later"));
    all.add(
        new Reply.All(
            List.of(
                new Reply.Done(new Dot(EU, 7)),
                new Reply.Answer(Optional.empty(), Optional.empty(), false, SEEN),
                new Reply.Failure(ErrorCode.WRONG_TYPE, "no"))));
    List<Reply> parts = ((Reply.All) all.getLast()).parts();
    all.add(new Reply.Evaluated(true, Optional.of(new Dot(EU, 7)), parts));
    all.add(new Reply.Evaluated(false, Optional.empty(), List.of()));
    all.addAll(whereKeyspacesAre());
    return all;
  }

  private static List<Reply> whereKeyspacesAre() {
    List<Reply.KeyspaceInfo> here = List.of(new Reply.KeyspaceInfo("ks", 2_000, 2, false));
    Reply.Elsewhere elsewhere =
        new Reply.Elsewhere(
            List.of(
                new Reply.HeldElsewhere(
                    new Reply.KeyspaceInfo("carts", 500, 4, false), List.of("eu", "us")),
                new Reply.HeldElsewhere(
                    new Reply.KeyspaceInfo("bank", 100, 1, true), List.of("us"))),
            Map.of("us", "us.example:7400", "eu", "eu.example:7400"));
    return List.of(
        new Reply.Keyspaces(here),
        new Reply.Keyspaces(here, elsewhere),
        new Reply.Welcome(10, EU, here, elsewhere));
  }

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

  /** Wherever a request names a type. */
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

  /** One sum over all forms: any change of any message's bytes is seen, and must be meant. */
  @Test
  void forms_areThoseOfVersionOne() {
    StringBuilder all = new StringBuilder();
    StringBuilder programs = new StringBuilder();
    for (Request r : requests()) {
      (r instanceof Request.Evaluate ? programs : all)
          .append(HexFormat.of().formatHex(ProtocolCodec.encode(1, r)));
    }
    for (Reply r : replies()) {
      if (whereKeyspacesAre().contains(r)) {
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

  /** What former versions have of it stays as it was: the types of what came later are others. */
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

  /** Bytes at some places are others, some at the end are missing, and it may go the wrong way. */
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

  /** What a client sent is not sent back to it, nor logged, whatever its size. */
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

  /** Each takes three bytes there and a hundred here: a frame of them would take the heap. */
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
