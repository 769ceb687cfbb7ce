package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.words.Word;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RedisWordsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "INCR likes:42             | true  | string incr likes:42",
        "INCRBY likes:42 5         | true  | string incr likes:42 5",
        "GET k                     | true  | get k",
        "SET k v                   | true  | string set k v",
        "set k '42'                | true  | string set k \"42\"",
        "SET k v EX 30 NX          | true  | for 30 ifabsent string set k v",
        "SET k v EX 0              | false | for 0 string set k v",
        "SETEX k -1 v              | false | for \"-1\" string set k v",
        "COPY a b                  | false | copy a b",
        "SADD s 42                 | true  | set add s \"42\"",
        "SET k v XX                | false | string set k v",
        "SETEX k 30 v              | true  | for 30 string set k v",
        "SADD s a \"b c\"          | true  | set add s a \"b c\"",
        "HSET u name Ada           | true  | map update u name string set Ada",
        "HSET u name Ada age 36    | false | map set u name=Ada age=36",
        "HINCRBY u visits 2        | true  | map update u visits string incr 2",
        "ZINCRBY board 5 ann       | false | map update board ann counter incr 5",
        "KEYS user:*               | true  | keys \"user:\"",
        "KEYS u*r                  | false | keys u*r",
        "SMEMBERS s                | true  | set get s",
        "SCAN 0                    | false | scan",
        "INCR a 5                  | false | string incr a",
        "MULTI                     | true  | begin",
      })
  void here_isALineThatCanBeRun(String typed, boolean same, String line) {
    assertThat(RedisWords.here(Word.split(typed))).contains(new RedisWords.Line(line, same));
    assertThat(Grammar.parse(Word.split(line))).isNotNull();
  }

  @Test
  void everyCommand_hasALineThatCanBeRun() {
    for (String command : RedisWords.LINES.keySet()) {
      RedisWords.Line line = RedisWords.here(Word.split(command + " k 1 2")).orElseThrow();
      assertThat(Grammar.parse(Word.split(line.text()))).as(command).isNotNull();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "SADD s, set add s ELEMENT...",
    "HSET, map update KEY FIELD string set VALUE",
    "HSET u name, map update u name string set VALUE",
    "SET, string set KEY VALUE",
    "KEYS, keys PREFIX"
  })
  void here_namesWhatIsMissing(String typed, String line) {
    assertThat(RedisWords.here(Word.split(typed))).contains(new RedisWords.Line(line, false));
  }

  @Test
  void here_isEmptyForOsiersOwn() {
    assertThat(RedisWords.here(Word.split("set add k v"))).isEmpty();
    assertThat(RedisWords.here(Word.split("frobnicate k v"))).isEmpty();
  }
}
