package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.protocol.Request;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Commands of several steps, with updates of others between them. */
final class RedisInterleavedTest extends RedisScenes {
  // ----------------------------------------------------------------- others come between

  @Test
  void rewriteWithOthersBetween_noneLost() {
    text("SET k 5");
    List<Request> requests = new ArrayList<>();
    node.asked = requests::add;
    node.between =
        () -> {
          if (requests.size() < 6) {
            node.dc().write("k", CrdtType.STRING, new Operation.Increment(1));
          }
        };
    assertThat(text("INCRBYFLOAT k 1e20")).isEqualTo("$100000000000000000010");
    assertThat(requests).hasSize(8);
  }

  @Test
  void rewriteOfAField_withOthersBetween_noneLost_andOtherFieldsDoNotMatter() {
    text("HSET h f 5");
    List<Request> requests = new ArrayList<>();
    node.asked = requests::add;
    node.between =
        () -> {
          if (requests.size() < 4) {
            update("h", CrdtType.OR_MAP, Texts.update("f", new Operation.Increment(1)));
          } else {
            update("h", CrdtType.OR_MAP, Texts.update("g", new Operation.Increment(1)));
          }
        };
    assertThat(text("HINCRBYFLOAT h f 1e20")).isEqualTo("$100000000000000000008");
    assertThat(requests).hasSize(6);
  }

  @Test
  void deadlineOfAField_thatGetsAnotherOneBetween_isJudgedAgain() {
    text("HSET h f 5");
    int[] steps = {0};
    node.between =
        () -> {
          if (steps[0]++ == 0) {
            update(
                "h",
                CrdtType.OR_MAP,
                new Operation.ExpireParts(
                    List.of(new Part.Field("f")), new Operation.Expire(50_000, true)));
          }
        };
    assertThat(text("HEXPIRE h 100 NX FIELDS 1 f")).isEqualTo("[:0]");
  }

  @Test
  void storedOfChangedSets_beginsAgain() {
    text("SADD a 1 2");
    text("SADD b 2");
    int[] steps = {0};
    node.between =
        () -> {
          if (steps[0]++ == 0) {
            update("b", CrdtType.AW_SET, new Operation.Add(Value.of("1")));
          }
        };
    assertThat(text("SINTERSTORE d a b")).isEqualTo(":2");
    assertThat(steps[0]).isEqualTo(4);
  }

  @Test
  void movedWhileRemoved_notMoved() {
    text("SADD a x");
    int[] steps = {0};
    node.between =
        () -> {
          if (steps[0]++ == 0) {
            update("a", CrdtType.AW_SET, new Operation.Remove(Value.of("x")));
          }
        };
    assertThat(text("SMOVE a b x")).isEqualTo(":0");
    assertThat(text("EXISTS b")).isEqualTo(":0");
  }

  @Test
  void movedToWhatIsNoSetThen_staysWhereItWas() {
    text("SADD a x");
    text("SADD b y");
    int[] steps = {0};
    node.between =
        () -> {
          if (steps[0]++ == 0) {
            update("b", CrdtType.AW_SET, new Operation.Delete());
            update("b", CrdtType.STRING, new Operation.Increment(1));
          }
        };
    assertThat(text("SMOVE a b x")).startsWith("-WRONGTYPE");
    assertThat(text("SISMEMBER a x")).isEqualTo(":1");
  }

  @Test
  void alwaysOthersBetween_busyInTheEnd() {
    text("SET k 5");
    node.between = () -> update("k", CrdtType.STRING, new Operation.Increment(1));
    assertThat(text("BITFIELD k SET u8 0 1")).startsWith("-BUSY ");
  }
}
