package io.osier.datacenter.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.datacenter.testing.Failed;
import io.osier.datacenter.testing.Requests;
import io.osier.protocol.Call;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** What a script asks for is checked as what comes from outside. */
final class ProgramChecksTest {
  private static final Key NAMED = Key.of("named");
  private static final Reply PONG = new Reply.Pong();

  private final List<Request> asked = new ArrayList<>();

  private static Request.Evaluate program(Call... calls) {
    return new Request.Evaluate("k", List.of(calls), List.of(), VersionVector.EMPTY, 0);
  }

  private static Request read(Key key) {
    return Requests.read("k", key, Optional.empty(), new Query.Whole());
  }

  private static Request write(String text) {
    return new Request.Write(
        "k",
        NAMED,
        CrdtType.STRING,
        new Operation.Assign(Value.of(text)),
        VersionVector.EMPTY,
        0,
        Optional.empty());
  }

  /** What a script is answered whose program is checked. */
  private Reply step(boolean isUpdate, Request request) {
    List<Reply> replies = new ArrayList<>();
    Call.Script script =
        new Call.Script(List.of(NAMED), isUpdate, 0, ask -> replies.add(ask.apply(request)));
    Request.Evaluate checked =
        ProgramChecks.checked(
            program(script),
            call -> {
              if (call instanceof Call.Update u
                  && u.operation().equals(new Operation.Assign(Value.of("large")))) {
                throw new OsierException(ErrorCode.VALUE_TOO_LARGE, "too large");
              }
            },
            () -> {
              throw new OsierException(ErrorCode.STORE_FULL, "full");
            });
    Function<Request, Reply> partition =
        step -> {
          asked.add(step);
          return PONG;
        };
    ((Call.Script) checked.calls().getFirst()).steps().run(partition);
    return replies.getFirst();
  }

  private void assertRefused(ErrorCode code, boolean isUpdate, Request request) {
    assertThat(step(isUpdate, request)).is(Failed.with(code));
    assertThat(asked).isEmpty();
  }

  @Test
  void step_thatIsRight_isAsked() {
    assertThat(step(false, read(NAMED))).isSameAs(PONG);
    assertThat(step(true, write("v"))).isSameAs(PONG);
    assertThat(asked).containsExactly(read(NAMED), write("v"));
  }

  @Test
  void step_aboutAKeyThatIsNotNamed_isRefused() {
    Key other = Key.of("other");
    assertRefused(ErrorCode.INVALID_ARGUMENT, true, read(other));
    assertRefused(ErrorCode.INVALID_ARGUMENT, true, program(new Call.Copy(NAMED, other, false)));
  }

  @Test
  void step_beyondALimit_isRefused() {
    assertRefused(ErrorCode.VALUE_TOO_LARGE, true, write("large"));
    assertRefused(
        ErrorCode.VALUE_TOO_LARGE,
        true,
        program(
            new Call.Version(NAMED),
            new Call.Update(
                NAMED,
                CrdtType.STRING,
                new Operation.Assign(Value.of("large")),
                Optional.empty())));
  }

  @Test
  void update_byAScriptThatOnlyReads_isLookedAtAsOne() {
    assertRefused(ErrorCode.STORE_FULL, false, write("v"));
  }
}
