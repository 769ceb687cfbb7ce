package io.osier.datacenter.frontend;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.ErrorCode;
import io.osier.core.Grant;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.access.User;
import io.osier.datacenter.access.Users;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.Call;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Scripts that other datacenters send: whose steps are taken here. */
final class ForwardedScriptsTest extends ForwardedFixture {
  /** Tasks that encode large answers, away from the threads that bring replies. */
  private final List<Runnable> beside = new ArrayList<>();

  /** How many bytes the answers of a script take. */
  private long answerBytes;

  private final Users users =
      new Users(List.of(new User("ann", Optional.empty(), List.of(Grant.parse("write shop a")))));

  private final ForwardedRequests requests =
      new ForwardedRequests(
          "eu", new Here(), access(() -> users), this::begun, bytes, task -> beside.add(task));

  /** A script that writes a and b, and answers by what it was told of that. */
  private Scripts.Begun begun(String keyspace, byte[] form, Set<Key> named, ByteBudget answers) {
    assertThat(named).as("the program's").containsExactly(Key.of("a"));
    if (form.length == 0) {
      throw new IllegalStateException("what a later version may send");
    }
    if (form.length != 1) {
      throw new MalformedException("no such script");
    }
    List<Reply> told = new ArrayList<>();
    Call.Script script =
        new Call.Script(
            List.of(Key.of("a"), Key.of("b")),
            true,
            1,
            ask -> List.of("a", "b").forEach(key -> told.add(ask.apply(write(key)))));
    return new Scripts.Begun() {
      @Override
      public Call.Script script() {
        return script;
      }

      @Override
      public long bytes() {
        return answerBytes;
      }

      @Override
      public Reply answer(Reply reply, VersionVector seen) {
        List<Reply> parts = new ArrayList<>(told);
        parts.add(new Reply.Answer(Optional.empty(), Optional.empty(), true, seen));
        return new Reply.Evaluated(true, Optional.of(DOT), parts);
      }
    };
  }

  /** As it travels: see ForwarderTest, which has its bytes. */
  private void askedScript(String user, long id, byte... form) {
    byte[] content =
        WireOutput.bytesOf(
            out -> {
              out.writeNumber(0);
              out.writeText(user);
              ProtocolCodec.start(out, id);
              out.writeByte(126);
              out.writeBlob(form);
              ProtocolCodec.writeBody(
                  out,
                  new Request.Evaluate(
                      "shop",
                      List.of(new Call.Version(Key.of("a"))),
                      List.of(),
                      VersionVector.EMPTY,
                      0));
            });
    requests.asked(AP, PeerVersions.NEWEST, content, this::answered);
  }

  /** Each step needs a right of the user's here, and what the steps were shown is told. */
  @Test
  void stepsOfAScript_areTakenByTheRightsOfItsUser() {
    askedScript("ann", 1, (byte) 7);
    Request.Evaluate program = (Request.Evaluate) done.keySet().iterator().next();
    Call.Script script = (Call.Script) program.calls().getFirst();
    List<Request> steps = new ArrayList<>();
    script
        .steps()
        .run(
            step -> {
              steps.add(step);
              return new Reply.Done(DOT);
            });
    assertThat(steps).as("ann may write a, and not b").containsExactly(write("a"));
    requireNonNull(done.get(program))
        .accept(new Reply.Evaluated(true, Optional.of(DOT), List.of()));
    Reply.Evaluated told = (Reply.Evaluated) requireNonNull(answers.get(1L));
    assertThat(told.parts().getFirst()).isEqualTo(new Reply.Done(DOT));
    assertThat(((Reply.Failure) told.parts().get(1)).code()).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(((Reply.Answer) told.parts().get(2)).seen())
        .isEqualTo(VersionVector.of(DOT.replica(), DOT.number()));
    isIdle();
  }

  /** Whoever brings replies lets those of others go meanwhile. */
  @Test
  void largeAnswersOfAScript_areEncodedBeside() {
    answerBytes = 1 << 20;
    askedScript("ann", 1, (byte) 7);
    done.values().iterator().next().accept(new Reply.Evaluated(true, Optional.of(DOT), List.of()));
    assertThat(answers).isEmpty();
    beside.removeFirst().run();
    assertThat(answers).containsKey(1L);
    isIdle();
  }

  @Test
  void scriptOfSomebodyUnknown_orOneThatCannotBeRead_isRefused_andNothingIsDone() {
    askedScript("bob", 1, (byte) 7);
    askedScript("ann", 2, (byte) 7, (byte) 8);
    assertThat(failure(1)).isEqualTo(ErrorCode.FORBIDDEN);
    assertThat(message(2)).contains("no such script");
    assertThat(done).isEmpty();
    isIdle();
  }

  @Test
  void scriptThatCannotBeReadForAnotherReason_isAnswered_andKeepsNothing() {
    askedScript("ann", 1);
    assertThat(failure(1)).isEqualTo(ErrorCode.INTERNAL);
    assertThat(done).isEmpty();
    isIdle();
  }
}
