package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What redis-server 7.0.15 answers to commands that the model does not have. */
class RedisKnownAnswersTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          BITFIELD b SET i8 0 -5 GET i8 0 GET u8 0                | [:0 :-5 :251]
          BITFIELD b SET u8 0 255 INCRBY u8 0 1                   | [:0 :0]
          BITFIELD b SET i8 #2 -128 INCRBY i8 #2 -1               | [:0 :127]
          BITFIELD b OVERFLOW SAT INCRBY i8 0 -200 GET i8 0       | [:-128 :-128]
          BITFIELD b OVERFLOW SAT SET u8 0 -1 GET u8 0            | [:0 :255]
          BITFIELD b OVERFLOW FAIL INCRBY u2 100 5 GET u2 100     | [(nil) :0]
          BITFIELD b SET i64 0 -1 INCRBY i64 0 -9223372036854775808 | [:0 :9223372036854775807]
          BITFIELD b GET u64 0 | -ERR Invalid bitfield type. Use something like i16 u8. \
          Note that u64 is not supported but i64 is.
          BITFIELD b GET u8 -1    | -ERR bit offset is not an integer or out of range
          BITFIELD b OVERFLOW X   | -ERR Invalid OVERFLOW type specified
          BITFIELD_RO b SET u8 0 1 | -ERR BITFIELD_RO only supports the GET subcommand
          LCS l1 l2               | $mytext
          LCS l1 l2 LEN           | :6
          LCS l1 l2 IDX MINMATCHLEN 4 WITHMATCHLEN | [$matches [[[:4 :7] [:5 :8] :4]] $len :6]
          LCS l1 l2 IDX LEN | -ERR If you want both the length and indexes, please just use IDX.
          SETBIT b 4294967295 1   | -ERR string exceeds maximum allowed size \
          (proto-max-bulk-len)
          SETBIT b 4294967296 1   | -ERR bit offset is not an integer or out of range
          INCRBY b 0x10           | -ERR value is not an integer or out of range
          INCRBYFLOAT b 0x10      | $16
          INCRBYFLOAT b nan       | -ERR value is not a valid float
          INCRBYFLOAT b -inf      | -ERR increment would produce NaN or Infinity
          INCRBYFLOAT b 1e5       | $100000
          INCRBYFLOAT huge 9e4931 | -ERR increment would produce NaN or Infinity
          HINCRBYFLOAT hash huge 9e4931 | -ERR increment would produce NaN or Infinity
          SORT numbers            | [$-2 $-1.5 $ $0x10 $1e2]
          SORT numbers DESC LIMIT 0 2 | [$1e2 $0x10]
          SORT large              | -ERR One or more scores can't be converted into double
          SET b x EX 0            | -ERR invalid expire time in 'set' command
          SET b x EX 0 FOO        | -ERR syntax error
          SET b x EX              | -ERR syntax error
          EXPIRE l1 x FOO         | -ERR Unsupported option FOO
          SET b x NX XX           | -ERR syntax error
          EXPIRE l1 9 NX GT       | -ERR NX and XX, GT or LT options at the same time are not \
          compatible
          EXPIRE l1 9223372036854775807 | -ERR invalid expire time in 'expire' command
          SINTERCARD 2 l1         | -ERR Number of keys can't be greater than number of args
          RESTORE l1 0 x          | -BUSYKEY Target key name already exists.
          RESTORE l1 0 x REPLACE  | -ERR DUMP payload version or checksum are wrong
          COPY l1 l2 DB x         | -ERR value is not an integer or out of range
          SPOP b -1               | -ERR value is out of range, must be positive
          """)
  void call_asRedisAnswers(String call, String answer) {
    RedisNode node = RedisNode.alone();
    node.answer("MSET", "l1", "ohmytext", "l2", "mynewtext");
    node.answer("SET", "huge", "9e4931");
    node.answer("HSET", "hash", "huge", "9e4931");
    node.answer("SADD", "numbers", "1e2", "0x10", "-1.5", "-2", "");
    node.answer("SADD", "large", "1e400", "1");
    assertThat(node.text(call.split(" "))).isEqualTo(answer);
  }
}
