package io.osier.datacenter.redis.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.KeyspacePolicy;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.partition.Cluster;
import io.osier.datacenter.redis.RespValue;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** MULTI to EXEC, and WATCH, in scenes set by hand: at one datacenter, and at two. */
class RedisTransactionTest {
  private static final String NIL = "(nil)";
  private static final String ABORTED =
      "-EXECABORT Transaction discarded because of previous errors.";

  private final RedisNode node = RedisNode.alone();
  private final RedisQueue a = new RedisQueue(node);
  private final RedisQueue b = new RedisQueue(node);

  /** The answer to EXEC of commands. */
  private static String exec(RedisQueue client, String... commands) {
    assertThat(client.text("MULTI")).isEqualTo("+OK");
    for (String command : commands) {
      assertThat(client.text(command)).as(command).isEqualTo("+QUEUED");
    }
    return client.text("EXEC");
  }

  // ---------------------------------------------------------------- one datacenter

  @Test
  void commandsOfSeveralSteps_seeWhatThoseBeforeThemMade_inOneCommit() {
    List<Request> asked = new ArrayList<>();
    node.asked = asked::add;
    assertThat(
            exec(
                a,
                "SET s ab",
                "APPEND s c",
                "SETRANGE s 1 xx",
                "GET s",
                "SETNX s no",
                "SADD t a b",
                "SUNIONSTORE u t t",
                "SPOP u 2",
                "EXISTS u",
                "HSET h f 1",
                "HINCRBY h f 4",
                "HEXPIRE h 100 FIELDS 1 f",
                "HTTL h FIELDS 1 f",
                "RENAME h g",
                "HGETALL g",
                "SINTERCARD 2 t t",
                "SORT t ALPHA DESC"))
        .isEqualTo("[+OK :3 :3 $axx :0 :2 :2 [$a $b] :0 :1 :5 [:1] [:100] +OK [$f $5] :2 [$b $a]]");
    assertThat(asked).as("one program").hasSize(1);
  }

  @Test
  void errorOfACommand_standsInItsPlace_andTheOthersAreDone() {
    assertThat(exec(a, "SET s x", "INCR s", "SADD s y", "SET s z XY", "APPEND s y"))
        .isEqualTo(
            "[+OK -ERR value is not an integer or out of range -WRONGTYPE Operation against a key"
                + " holding the wrong kind of value -ERR syntax error :2]");
    assertThat(a.text("GET s")).isEqualTo("$xy");
  }

  @Test
  void watched_changedByAnother_nothingIsDone() {
    a.text("SET s 1");
    assertThat(a.text("WATCH s other")).isEqualTo("+OK");
    b.text("SET s 2");
    assertThat(exec(a, "SET s 3", "SET r 3")).isEqualTo(NIL);
    assertThat(a.text("MGET s r")).isEqualTo("[$2 (nil)]");
    assertThat(exec(a, "SET s 3")).as("it is watched no more").isEqualTo("[+OK]");
  }

  @Test
  void watched_atItsFirstVersion_thoughWatchedAgain() {
    a.text("WATCH s");
    b.text("SET s 2");
    a.text("WATCH s");
    assertThat(exec(a)).isEqualTo(NIL);
  }

  @Test
  void watched_unwatchedOrDiscarded_isForgotten() {
    a.text("WATCH s");
    b.text("SET s 2");
    a.text("UNWATCH");
    assertThat(exec(a, "GET s")).isEqualTo("[$2]");
    a.text("WATCH s");
    b.text("SET s 3");
    a.text("MULTI");
    assertThat(a.text("DISCARD")).isEqualTo("+OK");
    assertThat(exec(a, "GET s")).isEqualTo("[$3]");
  }

  @Test
  void watched_thatExpires_nothingIsDone_butWhatWasOverBefore_isNothing() {
    a.text("SET s 1 PX 50");
    a.text("WATCH s");
    node.pass(60);
    assertThat(exec(a, "SET r 1")).isEqualTo(NIL);
    a.text("SET s 1 PX 50");
    node.pass(51);
    a.text("WATCH s");
    node.pass(10_000); // it is removed
    assertThat(exec(a, "SET r 1")).isEqualTo("[+OK]");
  }

  @Test
  void error_whileQueued_abortsAll_andKeepsNothing() {
    a.text("MULTI");
    a.text("SET s 1");
    a.transaction().spoil();
    assertThat(a.text("SET r 1")).isEqualTo("+QUEUED");
    assertThat(a.text("EXEC")).isEqualTo(ABORTED);
    assertThat(a.text("MGET s r")).isEqualTo("[(nil) (nil)]");
    assertThat(a.text("EXEC")).isEqualTo("-ERR EXEC without MULTI");
  }

  @Test
  void keysOfTwoPartitions_crossSlot() {
    RedisQueue many = new RedisQueue(new RedisNode(cluster(), "eu", 16));
    assertThat(many.text("WATCH a b c d")).startsWith("-CROSSSLOT");
    many.text("MULTI");
    assertThat(many.text("SET a 1")).isEqualTo("+QUEUED");
    assertThat(many.text("SET b 1")).startsWith("-CROSSSLOT");
    assertThat(many.text("EXEC")).isEqualTo(ABORTED);
  }

  // ---------------------------------------------------------------- budgets

  @Test
  void queued_tooManyCommandsOrKeys_areRefused() {
    a.text("MULTI");
    for (int i = 0; i < 10_000; i++) {
      assertThat(a.text("GET s")).isEqualTo("+QUEUED");
    }
    assertThat(a.text("GET s")).startsWith("-ERR a transaction has at most 10000 commands");
    assertThat(a.text("EXEC")).isEqualTo(ABORTED);
    a.text("MULTI");
    assertThat(a.text("MGET" + " s".repeat(10_001))).startsWith("-ERR a transaction has at most");
    assertThat(a.text("EXEC")).isEqualTo(ABORTED);
    String many = String.join(" ", IntStream.range(0, 10_001).mapToObj(i -> "k" + i).toList());
    assertThat(a.text("WATCH " + many)).startsWith("-ERR at most 10000 keys can be watched");
  }

  @Test
  void tenThousandCommands_areDone() {
    String[] commands = new String[10_000];
    for (int i = 0; i < commands.length; i++) {
      commands[i] = i % 2 == 0 ? "INCR n" : "APPEND k" + i + " x";
    }
    assertThat(exec(a, commands)).startsWith("[:1 :1 :2 :1 ").endsWith(" :5000 :1]");
  }

  @Test
  void whatIsKept_isTakenFromTheBudget_andGivenBack() {
    ByteBudget budget = new ByteBudget(10_000);
    RedisQueue client = new RedisQueue(node, budget);
    client.text("WATCH a");
    assertThat(budget.taken()).isPositive();
    client.text("MULTI");
    client.text("SET s " + "x".repeat(5_000));
    assertThat(budget.taken()).isGreaterThan(5_000);
    assertThat(client.text("SET s " + "x".repeat(5_000))).startsWith("-BUSY there is no memory");
    client.transaction().spoil();
    assertThat(budget.taken()).as("what is watched").isBetween(1L, 1_000L);
    assertThat(client.text("EXEC")).isEqualTo(ABORTED);
    assertThat(budget.taken()).isZero();
    exec(client, "SET s x");
    assertThat(budget.taken()).isZero();
    client.text("WATCH a");
    client.transaction().close();
    assertThat(budget.taken()).isZero();
  }

  @Test
  void answersBeyondTheirBound_areErrors_andUpdatesAreDone() {
    List<String> commands = new ArrayList<>(List.of("SADD t a"));
    for (int i = 0; i < 10; i++) {
      commands.add("SRANDMEMBER t -1000000");
    }
    commands.add("SADD t b");
    List<String> answers =
        RedisQueue.all(answered(a, commands)).stream()
            .map(Texted::text)
            .map(text -> text.substring(0, Math.min(30, text.length())))
            .toList();
    assertThat(answers.get(1)).startsWith("[$a $a");
    assertThat(answers.get(10)).isEqualTo("-ERR the answers of EXEC take ");
    assertThat(a.text("SCARD t")).isEqualTo(":2");
    assertThat(a.transaction().holds()).as("the next one waits").isTrue();
    assertThat(exec(a, "SRANDMEMBER t -10")).as("all were given back").startsWith("[[$");
    assertThat(a.transaction().holds()).isFalse();
  }

  @Test
  void answers_whereAllConnectionsHaveNoRoom_areErrors_butUpdatesAndSmallOnesAreDone() {
    ByteBudget all = new ByteBudget(100_000);
    all.take(100_000); // by others
    RedisQueue client = new RedisQueue(node, ByteBudget.UNLIMITED, all);
    List<String> commands =
        List.of("SADD t a", "SRANDMEMBER t -10000", "SRANDMEMBER t -1", "SADD t b");
    assertThat(Texted.text(answered(client, commands)))
        .startsWith("[:1 -ERR the answers of EXEC take more than")
        .endsWith(" :1]");
    assertThat(client.text("SCARD t")).isEqualTo(":2");
    all.give(100_000);
    assertThat(exec(client, "SRANDMEMBER t -1000")).startsWith("[[$");
    assertThat(all.taken()).as("all were given back").isZero();
  }

  private static RespValue answered(RedisQueue client, List<String> commands) {
    client.text("MULTI");
    commands.forEach(client::text);
    return client.answer(List.of("EXEC"));
  }

  // ---------------------------------------------------------------- two datacenters

  private static Cluster cluster() {
    return new Cluster(KeyspacePolicy.session("k", Duration.ofMillis(100)), "eu", "us");
  }

  @Test
  void watched_changedAtTheOtherDatacenter_isSeenOnceItHasCome() {
    Cluster cluster = cluster();
    RedisQueue eu = new RedisQueue(new RedisNode(cluster, "eu", 1));
    RedisQueue us = new RedisQueue(new RedisNode(cluster, "us", 1));
    eu.text("SET s 1");
    cluster.run(1_000);
    eu.text("WATCH s");
    us.text("WATCH s");
    assertThat(exec(us, "SET s us")).isEqualTo("[+OK]");
    assertThat(exec(eu, "INCR n")).as("it has not come yet: no lock").isEqualTo("[:1]");
    eu.text("WATCH s");
    cluster.run(1_000);
    assertThat(exec(eu, "SET s eu")).isEqualTo(NIL);
    assertThat(eu.text("GET s")).isEqualTo("$us");
  }

  @Test
  void exec_inACausalKeyspace_isVisibleAsAWhole() {
    Cluster cluster = new Cluster(KeyspacePolicy.causal("k", Duration.ofMillis(200)), "eu", "us");
    RedisQueue eu = new RedisQueue(new RedisNode(cluster, "eu", 1));
    RedisNode us = new RedisNode(cluster, "us", 1);
    for (int i = 1; i <= 40; i++) {
      assertThat(exec(eu, "INCR n", "APPEND s x", "SADD t e" + i))
          .isEqualTo("[:" + i + " :" + i + " :1]");
      for (int j = 0; j < 8; j++) {
        cluster.run(3);
        String n = us.text("GET", "n").replace(NIL, "$0").substring(1);
        assertThat(us.text("STRLEN", "s") + us.text("SCARD", "t")).isEqualTo(":" + n + ":" + n);
      }
    }
    cluster.run(2_000);
    assertThat(us.text("GET", "n")).isEqualTo("$40");
  }
}
