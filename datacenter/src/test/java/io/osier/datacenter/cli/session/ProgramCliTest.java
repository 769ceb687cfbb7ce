package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.datacenter.server.TestCluster;
import io.osier.datacenter.words.Word;
import io.osier.proxy.OsierClient;
import java.io.PrintStream;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Programs at the command line, and what moves a key. */
final class ProgramCliTest {
  private static String run(CliSession cli, String... lines) {
    String last = "";
    for (String line : lines) {
      last = cli.answer((Grammar.Action) Grammar.parse(Word.split(line)));
    }
    return last;
  }

  @Test
  void lines_areNotedAndRunTogether() {
    try (TestCluster cluster =
            new TestCluster("shop { sla = 200ms, partitions = 1 }", new String[] {"eu"});
        OsierClient client = cluster.client("eu")) {
      CliSession cli =
          new CliSession(
              client, client.session(), Optional.of("shop"), false, NewPasswords.ASKED_FOR);
      assertThatThrownBy(() -> run(cli, "run")).hasMessageContaining("no program was begun");
      assertThat(run(cli, "program"))
          .isEqualTo("the commands that follow are noted; 'run' sends them as one program");
      assertThat(cli.prompt()).endsWith("*> ");
      assertThat(run(cli, "counter incr n 3")).isEqualTo("noted; run sends it");
      assertThatThrownBy(() -> run(cli, "program")).hasMessageContaining("'abort' drops it");
      assertThatThrownBy(() -> run(cli, "keys"))
          .hasMessageContaining("in a program only updates, get");
      assertThatThrownBy(() -> run(cli, "del a b")).hasMessageContaining("a line for each");
      run(cli, "returning counter incr n 4", "counter get n", "set add n x", "type n", "exists m");
      run(cli, "for 60 string set s a", "ttl n", "persist s", "persist s", "ttl s", "rename s t");
      run(cli, "rename s t", "copy t u", "string append u b", "get u", "del t", "expire t 9");
      run(cli, "returning set add e 1 2", "returning set add e 2 3", "ttl t");
      assertThat(run(cli, "run"))
          .isEqualTo(
              """
              1: done
              2: 7
              3: 7
              4: error WRONG_TYPE: key 'n' holds a counter, not a set
              5: counter
              6: false
              7: done
              8: it does not expire
              9: done
              10: it does not expire
              11: it does not expire
              12: done
              13: (nothing)
              14: done
              15: done
              16: ab
              17: done
              18: (nothing)
              19: {1, 2}
              20: {3}
              21: (nothing)\
              """);
      assertThat(cli.prompt()).doesNotEndWith("*> ");
      assertThat(run(cli, "get u")).isEqualTo("ab");

      // A condition is the whole program's.
      run(cli, "program", "ifabsent string set lock me", "counter incr n 1");
      assertThat(run(cli, "run")).isEqualTo("1: done\n2: done");
      run(cli, "program", "ifabsent string set lock you", "counter incr n 1");
      assertThat(run(cli, "run")).isEqualTo("not done: the object is not as expected");
      assertThat(run(cli, "counter get n")).isEqualTo("8");
      run(cli, "program", "counter incr n 1");
      assertThat(run(cli, "abort")).isEqualTo("forgotten");
      assertThat(run(cli, "counter get n")).isEqualTo("8");
      run(cli, "program");
      assertThatThrownBy(() -> run(cli, "run")).hasMessageContaining("1 to 10000 calls");
      assertThat(cli.prompt()).doesNotEndWith("*> ");

      assertThat(run(cli, "copy lock former")).isEqualTo("done");
      assertThat(run(cli, "rename former lock:2")).isEqualTo("done");
      assertThat(run(cli, "rename former lock:2")).isEqualTo("(nothing)");
      assertThat(run(cli, "get lock:2")).isEqualTo("me");
      assertThatThrownBy(() -> run(cli, "rename lock lock")).hasMessageContaining("another key");
      assertThatThrownBy(() -> run(cli, "rename lock")).hasMessageContaining("rename OLD NEW");

      CliSession json =
          new CliSession(
              client, client.session(), Optional.of("shop"), true, NewPasswords.ASKED_FOR);
      assertThat(run(json, "copy none other")).isEqualTo("{\"copied\":false}");
      assertThat(run(json, "program", "get lock")).isEqualTo("{\"done\":false}");
      assertThat(run(json, "counter incr lock", "string set v 1", "run"))
          .isEqualTo(
              "{\"held\":true,\"answers\":[{\"done\":false,\"type\":\"string\",\"exists\":true,"
                  + "\"value\":\"me\"},{\"error\":\"WRONG_TYPE\",\"message\":\"key 'lock' holds a"
                  + " string, not a counter\"},{\"done\":true}]}");
      CommandRunner alone =
          new CommandRunner(client, cli, new PrintStream(PrintStream.nullOutputStream()));
      assertThatThrownBy(() -> alone.runAlone(Word.split("program")))
          .hasMessageContaining("is for several commands");
    }
  }
}
