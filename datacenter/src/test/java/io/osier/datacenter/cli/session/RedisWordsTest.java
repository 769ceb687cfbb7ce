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
        "INCR likes:42             | counter incr likes:42",
        "INCRBY likes:42 5         | counter incr likes:42 5",
        "GET k                     | get k",
        "SET k v                   | register set k v",
        "set k '42'                | register set k \"42\"",
        "SET k v EX 30 NX          | for 30 ifabsent register set k v",
        "SETEX k 30 v              | for 30 register set k v",
        "SADD s a \"b c\"          | set add s a \"b c\"",
        "HSET u name Ada age 36    | map set u name=Ada age=36",
        "HINCRBY u visits 2        | map update u visits counter incr 2",
        "ZINCRBY board 5 ann       | map update board ann counter incr 5",
        "KEYS user:*               | keys user:",
        "SMEMBERS s                | set get s",
        "MULTI                     | begin",
      })
  void here_isALineThatCanBeRun(String typed, String line) {
    assertThat(RedisWords.here(Word.split(typed))).contains(line);
    assertThat(Grammar.parse(Word.split(line))).isNotNull();
  }

  @Test
  void everyCommand_hasALineThatCanBeRun() {
    for (String command : RedisWords.LINES.keySet()) {
      String line = RedisWords.here(Word.split(command + " k 1 2")).orElseThrow();
      assertThat(Grammar.parse(Word.split(line))).as(command).isNotNull();
    }
  }

  @Test
  void here_namesWhatIsMissing_andIsEmptyForOsiersOwn() {
    assertThat(RedisWords.here(Word.split("SADD s"))).contains("set add s ELEMENT...");
    assertThat(RedisWords.here(Word.split("HSET"))).contains("map set KEY FIELD=VALUE...");
    assertThat(RedisWords.here(Word.split("HSET u name"))).contains("map set u FIELD=VALUE...");
    assertThat(RedisWords.here(Word.split("SET"))).contains("register set KEY VALUE");
    assertThat(RedisWords.here(Word.split("set add k v"))).isEmpty();
    assertThat(RedisWords.here(Word.split("frobnicate k v"))).isEmpty();
  }
}
