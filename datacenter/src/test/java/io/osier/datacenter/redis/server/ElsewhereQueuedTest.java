package io.osier.datacenter.redis.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.Key;
import io.osier.core.Partitioning;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.datacenter.frontend.Scripts;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a holder makes of the commands that were queued elsewhere. */
final class ElsewhereQueuedTest {
  private static final Reply HELD = new Reply.Evaluated(true, Optional.empty(), List.of());

  private final ByteBudget answers = new ByteBudget(64 << 20);
  private final ElsewhereQueued scripts =
      new ElsewhereQueued(
          keyspace -> Optional.of(Partitioning.byKey(1)), () -> 1_000, new Random(7));

  /** As QueueFormTest has it. */
  private static byte[] form(String... commands) {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(1);
          out.writeBoolean(false);
          out.writeCount(commands.length);
          for (String command : commands) {
            String[] words = command.split(" ");
            out.writeCount(words.length);
            for (String word : words) {
              out.writeBlob(word.getBytes(US_ASCII));
            }
          }
        });
  }

  private Scripts.Begun read(String... commands) {
    return scripts.read("shop", form(commands), Set.of(Key.of("watched")), answers);
  }

  private static List<String> texts(Reply reply) {
    return ((Reply.Evaluated) reply)
        .parts().stream()
            .map(part -> ((Reply.Answer) part).reading().orElseThrow())
            .map(reading -> ((Reading.Single) reading).value().orElseThrow())
            .map(value -> new String(((Value.Bytes) value).content(), US_ASCII))
            .toList();
  }

  private static Reply string(String text) {
    return new Reply.Answer(
        CrdtType.STRING,
        new Reading.Single(Optional.of(Value.of(text.getBytes(US_ASCII)))),
        VersionVector.EMPTY);
  }

  @Test
  void commands_areFollowed_andAnsweredInTheProtocolOfTheirClient() {
    Scripts.Begun begun = read("GET a", "get b");
    assertThat(begun.script().keys())
        .containsExactlyInAnyOrder(Key.of("watched"), Key.of("a"), Key.of("b"));
    assertThat(begun.script().isUpdate()).isFalse();
    begun.script().steps().run(step -> string("x"));
    assertThat(answers.taken()).isPositive();
    assertThat(texts(begun.answer(HELD, VersionVector.EMPTY)))
        .containsExactly("$1\r\nx\r\n", "$1\r\nx\r\n");
    assertThat(answers.taken()).isZero();
    assertThat(read("SET a 1").script().isUpdate()).isTrue();
  }

  @Test
  void answersThatFindNoRoom_areErrorsInTheirPlaces() {
    String large = "x".repeat(11 << 20);
    Scripts.Begun begun = read("GET a", "GET b", "GET c");
    begun.script().steps().run(step -> string(large));
    List<String> texts = texts(begun.answer(HELD, VersionVector.EMPTY));
    assertThat(texts.get(1)).hasSizeGreaterThan(large.length());
    assertThat(texts.get(2)).startsWith("-ERR the answers of EXEC");
    assertThat(answers.taken()).isZero();
  }

  @Test
  void whatWasNotDone_isToldAsItIs_andKeepsNothing() {
    Reply unheld = new Reply.Evaluated(false, Optional.empty(), List.of());
    Scripts.Begun begun = read("GET a");
    assertThat(begun.answer(unheld, VersionVector.EMPTY)).isEqualTo(unheld);
    assertThat(read().answer(HELD, VersionVector.EMPTY)).isEqualTo(HELD);
    assertThat(answers.taken()).isZero();
  }

  @Test
  void commandThatIsNotKnownHereSo_isRefusedWithAllOthers() {
    Stream.of("NEWER a", "GET", "GET a b", "MULTI", "EXEC", "KEYS *", "PUBLISH c m", "LCS a b")
        .forEach(
            command ->
                assertThatThrownBy(() -> read("SET a 1", command))
                    .as(command)
                    .isInstanceOf(MalformedException.class)
                    .hasMessageContaining(command.split(" ")[0]));
    assertThatThrownBy(() -> read("GET " + "k".repeat(70_000)))
        .isInstanceOf(MalformedException.class);
    assertThatThrownBy(() -> scripts.read("shop", form(), Set.of(), answers))
        .isInstanceOf(MalformedException.class);
  }
}
