package io.osier.datacenter.cli.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.core.net.Ports;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code osier cli} says of what is wrong, and how it ends then. */
final class CliErrorsTest extends CliFixture {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "returning                | error INVALID_ARGUMENT: after 'returning' comes an update",
        "returning counter get x  | error INVALID_ARGUMENT: after 'returning' comes an update",
        "ifabsent register get x  | error INVALID_ARGUMENT: after 'ifabsent' comes an update",
        "ifvalue 1 counter incr x | error INVALID_ARGUMENT: 'ifvalue' is for a register",
        "for 30                   | error INVALID_ARGUMENT: usage: for SECONDS, and an update",
        "eachfor 30               | error INVALID_ARGUMENT: usage: eachfor SECONDS, and an update",
        "eachfor 30 counter incr x | error INVALID_ARGUMENT: only an update that adds elements or"
            + " updates fields can give them a time to live",
        "set expire x 5           | error INVALID_ARGUMENT: usage: set expire KEY SECONDS"
            + " ELEMENT...",
        "map ttl x                | error INVALID_ARGUMENT: usage: map ttl KEY FIELD",
        "set range x after        | error INVALID_ARGUMENT: behind 'after' comes an end: set range"
            + " KEY [from|after ELEMENT] [to|before ELEMENT] [last] [N]",
        "set range x 5 last       | error INVALID_ARGUMENT: '5' is no part of set range KEY"
            + " [from|after ELEMENT] [to|before ELEMENT] [last] [N]",
        "map range x 0            | error INVALID_ARGUMENT: a range shows 1 to 10000 elements or"
            + " fields at once, not 0",
        "counter ttl x y          | error INVALID_ARGUMENT: a counter has no 'ttl'; it has incr,",
        "for 30 counter get x     | error INVALID_ARGUMENT: usage: for SECONDS, and an update",
        "for ever counter incr x  | error INVALID_ARGUMENT: 'ever' must be a number of seconds",
        "for 1 for 2 counter incr x | error INVALID_ARGUMENT: an update that gives its object a"
            + " time",
        "counter mul x            | error INVALID_ARGUMENT: a counter has no 'mul'; it has incr",
        "counter inc x            | error INVALID_ARGUMENT: a counter has no 'inc'; did you mean"
            + " 'incr'?; it has",
        "conter get x             | error INVALID_ARGUMENT: there is no command 'conter'; did you"
            + " mean 'counter'?",
        "frobnicate x             | error INVALID_ARGUMENT: there is no command 'frobnicate';"
            + " 'help' names all commands",
        "user lst                 | error INVALID_ARGUMENT: user has no 'lst'; did you mean"
            + " 'list'?",
        "keyspace crate x         | error INVALID_ARGUMENT: keyspace has no 'crate'; did you mean"
            + " 'create'?",
        "help cuonter             | error INVALID_ARGUMENT: there is no help on 'cuonter'; did you"
            + " mean 'counter'?",
        "scan a -1                | error INVALID_ARGUMENT: '-1' must be a number from",
        "scan a 0                 | error INVALID_ARGUMENT: '0' must be a number from 1",
        "top --twice              | error: Unknown option: '--twice'",
        "INCR                     | error INVALID_ARGUMENT: INCR is a command of Redis; here it is:"
            + " string incr KEY",
        "set k v xx               | error INVALID_ARGUMENT: set is a command of Redis; here it is:"
            + " string set k v",
        "counter incr x many      | error INVALID_ARGUMENT: 'many' must be a whole number",
        "counter incr x 9223372036854775808 | error INVALID_ARGUMENT: '9223372036854775808' must be"
            + " a whole number that has room in 64 bits",
        "counter incr x 1 000     | error INVALID_ARGUMENT: usage: counter incr KEY [N]",
        "string decr x 1 000      | error INVALID_ARGUMENT: usage: string decr KEY [N]",
        "counter clear x y        | error INVALID_ARGUMENT: usage: counter clear KEY",
        "set get x y              | error INVALID_ARGUMENT: usage: set get KEY",
        "map size x y             | error INVALID_ARGUMENT: usage: map size KEY",
        "bcounter rights x y      | error INVALID_ARGUMENT: usage: bcounter rights KEY",
        "bcounter give x us 3 upp | error INVALID_ARGUMENT: usage: bcounter give KEY DC N"
            + " [up|down]",
        "ewflag on x y            | error INVALID_ARGUMENT: usage: ewflag on KEY",
        "counter                  | error INVALID_ARGUMENT: after 'counter' come an operation",
        "map set x novalue        | error INVALID_ARGUMENT: map set KEY FIELD=VALUE",
        "--keyspace nope get x    | error UNKNOWN_KEYSPACE: ",
      })
  void wrongCommand_saysWhatWouldBeRight(String command, String error) {
    CliRun run = run(command.strip().split(" +"));
    assertThat(run.code()).isEqualTo(error.contains("option") ? 2 : 1);
    assertThat(run.err()).startsWith(error.strip()).hasLineCount(run.code());
  }

  @Test
  void wrongTlsArguments_areUsage_andFilesThatCannotBeRead_areAnError() {
    CliRun half = run("--certificate", "eu.pem", "get", "x");
    assertThat(half.code()).isEqualTo(2);
    assertThat(half.err()).startsWith("error: --certificate and --key belong together");
    assertThat(run("--any-host", "get", "x").code()).isEqualTo(2);
    CliRun none = run("--authorities", "nowhere.pem", "get", "x");
    assertThat(none.code()).isEqualTo(1);
    assertThat(none.err()).startsWith("error CONFIGURATION: there is no nowhere.pem");
  }

  @Test
  void usage_isExitCodeTwo() {
    assertThat(run("--nonsense").code()).isEqualTo(2);
    assertThat(run("--help").out()).contains("Examples:");
  }

  @Test
  void negativeAmount_isNoOption_butAMistypedOptionIs() {
    assertThat(run("counter", "incr", "negative", "-3").out()).isEqualTo("-3");
    assertThat(run("counter", "get", "negative").out()).isEqualTo("-3");
    CliRun mistyped = run("counter", "get", "negative", "--jsno");
    assertThat(mistyped.code()).isEqualTo(2);
    assertThat(mistyped.err()).startsWith("error: Unknown option: '--jsno'");
    assertThat(run("dc", "remove", "nobody", "--dead").code())
        .as("one that belongs to its command, which fails")
        .isEqualTo(1);
    assertThat(run("dc", "remove", "nobody", "--daed").err())
        .startsWith("error: Unknown option: '--daed'");
    assertThat(run("counter", "get", "negative", "--dead").err())
        .startsWith("error: Unknown option: '--dead'");
    assertThat(run("--", "register", "set", "dashes", "--jsno").out()).isEqualTo("done");
  }

  @Test
  void errors_areJsonIfAskedFor() {
    assertThat(run("--json", "counter", "mul", "x").err())
        .isEqualTo(
            "{\"error\":\"INVALID_ARGUMENT\",\"message\":\"a counter has no 'mul'; it has incr,"
                + " decr, get, clear\",\"outcome\":\"failed\"}");
  }

  @Test
  void unreachable_saysWhyOfEachAddress() {
    int silent = Ports.free();
    String at = "eu=127.0.0.1:" + silent + ",us=127.0.0.1:" + cluster.peerPort("eu");
    AtomicInteger seconds = new AtomicInteger(1);
    await() // on a slow machine it may not have tried both in its time
        .untilAsserted(
            () -> {
              String timeout = "" + seconds.updateAndGet(s -> 2 * s);
              CliRun run = raw("--timeout", timeout, "--connect", at, "get", "x");
              assertThat(run.code()).isEqualTo(1);
              assertThat(run.err())
                  .contains("error UNAVAILABLE: no datacenter can be reached")
                  .contains("eu at 127.0.0.1:" + silent + ": the connection was refused (nothing")
                  .contains(
                      "us at 127.0.0.1:" + cluster.peerPort("eu") + ": it closed the connection");
            });
  }

  private CliRun piped(String lines, String... options) {
    InputStream in = System.in;
    System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    try {
      return run(options);
    } finally {
      System.setIn(in);
    }
  }

  @Test
  void keyspaceThatWasCreatedSinceTheSessionBegan_isKnown() {
    CliRun run =
        piped(
            """
            keyspace create later
            counter incr c
            use later
            counter incr c 3
            use latter
            keyspace drop later
            """);
    assertThat(run.out().lines())
        .endsWith("keyspaces: later, shop; commands go to later", "3", "dropped");
    assertThat(run.err())
        .contains("'use NAME' chooses one of [later, shop]")
        .contains("there is no keyspace 'latter'; there are [later, shop]");
  }

  @Test
  void lines_areReadFromAPipe_andAFailedOneDoesNotStopTheOthers() {
    CliRun run =
        piped(
            """
            use shop
            counter incr piped 2

            counter mul piped
            counter get piped
            exit
            counter incr piped
            """);
    assertThat(run.out().lines()).containsExactly("keyspaces: shop; commands go to shop", "2", "2");
    assertThat(run.err())
        .startsWith("error INVALID_ARGUMENT at line 4: a counter has no 'mul'")
        .endsWith("\n  counter mul piped");
    assertThat(run.code()).isEqualTo(1);
  }

  @Test
  void callOfAProgramThatFails_makesTheExitCode1_alsoIfWhatFollowsDoesNot() {
    String failing = "program\nstring set word a\nstring incr word\nrun\n";
    CliRun run = piped(failing + "string get word\n");
    assertThat(run.out()).contains("2: error INVALID_ARGUMENT").endsWith("\na");
    assertThat(run.code()).isEqualTo(1);
    assertThat(piped(failing, "--json").code()).isEqualTo(1);
    CliRun right = piped("program\nstring set word b\nrun\n");
    assertThat(right.out()).endsWith("1: done");
    assertThat(right.code()).isZero();
    CliRun unmet = piped("program\nifabsent string set word c\nrun\n");
    assertThat(unmet.out()).endsWith("not done: the object is not as expected");
    assertThat(unmet.code()).as("as outside of a program").isZero();
  }

  @Test
  void pipeThatEnds_withoutWhatWouldDoTheLinesBefore_hasFailed() {
    for (String end : List.of("", "exit\n")) {
      CliRun run = piped("program\nstring set begun a\n" + end);
      assertThat(run.err()).startsWith("error INVALID_ARGUMENT: the program was not run");
      assertThat(run.code()).isEqualTo(1);
    }
    assertThat(piped("program\nstring set begun a\nabort\n").code()).isZero();
    assertThat(run("get", "begun").out()).isEqualTo("(nothing)");
  }
}
