package io.osier.datacenter.redis.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.testing.Patience;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** MULTI to EXEC at a datacenter that does not hold the keyspace, while two others do. */
final class ForwardedExecTest extends ForwardedFixture {
  private ThreeRedis start() {
    return start(
        """
        keyspaces.shop { sla = 200ms, replicas = [eu, us], partitions = 4, hash = tag }
        redis.databases { 0 = shop }
        """);
  }

  @Test
  void execIsDoneByAHolder_asItIsThere() throws Exception {
    ThreeRedis all = start();
    List<String> here = answers(open.add(all.connect("ap")), open.add(all.connect("ap")), "{a}");
    List<String> there = answers(open.add(all.connect("eu")), open.add(all.connect("eu")), "{b}");
    for (int i = 0; i < here.size(); i++) {
      assertThat(here.get(i)).as("answer %d", i).isEqualTo(there.get(i).replace("{b}", "{a}"));
    }
    assertThat(here).anyMatch(answer -> answer.startsWith("[+OK, :8, "));
  }

  /** What commands are answered, alone and in transactions, of keys with a tag. */
  private static List<String> answers(RawRedis redis, RawRedis other, String tag)
      throws IOException {
    List<String> all = new ArrayList<>();
    for (String resp : List.of("2", "3")) {
      redis.ask("HELLO " + resp);
      for (String commands :
          List.of(
              "MULTI;SET @ 5;INCRBY @ 3;GET @;HSET @h f 1;HGETALL @h;SADD @s b a;SMEMBERS @s;EXEC",
              "MULTI;EXEC",
              "MULTI;PING;ECHO x;EXEC",
              "MULTI;PING;INCR @;TIME x;DISCARD",
              "MULTI;INCR @s;GET @;PING;GET @x;EXEC",
              "MULTI;APPEND @ xyz;STRLEN @;GETRANGE @ 1 3;SETRANGE @ 2 q;BITCOUNT @;EXEC",
              "MULTI;SINTERSTORE @d @s @s;SMOVE @d @e a;SMEMBERS @d;SPOP @e;EXISTS @ @e @d;EXEC",
              "MULTI;HSCAN @h 0;SSCAN @d 0 COUNT 100;SORT @s ALPHA;EXEC",
              "WATCH @;MULTI;SET @ 1;EXEC",
              "WATCH @;MULTI;SET @ 2;!SET @ 3;EXEC;GET @",
              "WATCH @;!SET @ 4;UNWATCH;MULTI;SET @ 5;EXEC;GET @",
              "MULTI;RENAME @ @n;COPY @n @;DEL @n;EXISTS @ @n;EXPIRE @ 100;TTL @;PERSIST @;EXEC",
              "MULTI;SET @ abc NX;SET @ abc XX GET;MSET @ 1 @o 2;MGET @ @o @x;DEL @ @o @h;EXEC",
              "MULTI;OSIER.UPDATE counter incr @c 3;OSIER.READ counter get @c;DEL @c;EXEC",
              "MULTI;HINCRBY @h f x;INCR;EXEC",
              "MULTI;SET @ 1;SELECT 0;CONFIG GET none;EXEC;DEL @ @d @e @s")) {
        for (String command : commands.replace("@", tag).split(";")) {
          boolean byOther = command.startsWith("!");
          all.add(byOther ? other.ask(command.substring(1)) : redis.ask(command));
        }
      }
    }
    return all;
  }

  @Test
  void walkThatWouldGoOn_isAnErrorInItsPlace() throws Exception {
    ThreeRedis all = start();
    RawRedis redis = open.add(all.connect("ap"));
    List<String> fields = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      fields.add("f" + i + " " + i);
    }
    redis.ask("HSET h " + String.join(" ", fields));
    List<String> answers = redis.askAll("MULTI", "HSCAN h 0 COUNT 5", "HLEN h", "EXEC");
    assertThat(answers.getLast())
        .contains("ERR SCAN within MULTI cannot be continued")
        .endsWith(", :40]");
  }

  /** Who watches at one holder and goes on at the other does nothing that is not seen there. */
  @Test
  void countersThatAreReadAndSetWithinWatches_loseNothing_whileHoldersEnd() throws Exception {
    ThreeRedis all = start();
    whileHoldersEnd(all, this::transactions);
    try (RawRedis eu = all.connect("eu");
        RawRedis us = all.connect("us")) {
      String sums = "MGET {t}sum {t}twice";
      await().atMost(Patience.LIMIT).until(() -> eu.ask(sums).equals(us.ask(sums)));
      int sum = Integer.parseInt(eu.ask("GET {t}sum"));
      assertThat(sum)
          .as("%s done, %s unknown", done, unknown)
          .isBetween(done.get(), done.get() + unknown.get());
      assertThat(eu.ask("GET {t}twice")).as("what one commit made").isEqualTo("" + 2 * sum);
    }
  }

  /** Transactions over one connection until it ends, or an answer says that something is away. */
  private void transactions(ThreeRedis all, int own) {
    boolean asked = false;
    try (RawRedis redis = all.connect("ap")) {
      while (!ends.get()) {
        redis.ask("WATCH {t}own" + own);
        asked = true;
        List<String> answers =
            redis.askAll("MULTI", "INCR {t}sum", "INCRBY {t}twice 2", "INCR {t}own" + own, "EXEC");
        asked = false;
        String exec = answers.getLast();
        if (exec.startsWith("[:")) {
          done.incrementAndGet();
        } else {
          assertThat(exec).as("certain that nothing was done").matches("\\[]|-LOADING.*");
        }
      }
    } catch (IOException e) {
      if (asked) {
        unknown.incrementAndGet();
      }
    }
  }
}
