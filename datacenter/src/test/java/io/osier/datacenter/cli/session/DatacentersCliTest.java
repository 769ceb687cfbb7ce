package io.osier.datacenter.cli.session;

import static io.osier.testing.Refused.refused;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.words.Word;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.InProcess;
import io.osier.proxy.OsierClient;
import io.osier.proxy.PatientClients;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The commands about datacenters: what they send, and what they show. */
final class DatacentersCliTest {
  private static final String REPORT =
      "{\"datacenters\":["
          + "{\"name\":\"ap\",\"address\":\"ap.example:7401\",\"state\":\"joining\","
          + "\"from\":\"command\",\"changed_by\":\"ada@eu\",\"changed_at_ms\":1790000000000,"
          + "\"awaited\":[\"1 of 3 partitions\"]},"
          + "{\"name\":\"eu\",\"address\":\"eu.example:7401\",\"state\":\"active\","
          + "\"from\":\"file\",\"changed_by\":\"\",\"changed_at_ms\":0,\"awaited\":[]}]}";

  private static final String TABLE =
      """
      dc  address          state                       from     changed
      ap  ap.example:7401  joining: 1 of 3 partitions  command  2026-09-21T14:13:20Z by ada@eu
      eu  eu.example:7401  active                      file     never\
      """;

  /** Answers what it is asked to administer with a report. */
  private static final class Fake implements InProcess {
    final List<Request> asked = new ArrayList<>();
    String report = REPORT;
    String why = "{}";

    @Override
    public ReplicaId replica() {
      return new ReplicaId("eu", 1);
    }

    @Override
    public List<Reply.KeyspaceInfo> keyspaces() {
      return List.of(new Reply.KeyspaceInfo("shop", 2_000, 2, false));
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void send(Request request, Consumer<Reply> reply) {
      asked.add(request);
      boolean asksWhy = request instanceof AdminRequest.Administer a && a.asksWhy();
      reply.accept(new Reply.Report(asksWhy ? why : report));
    }

    @Override
    public boolean update(String keyspace, Key key, CrdtType type, Operation operation) {
      return false;
    }
  }

  private final Fake eu = new Fake();
  private final OsierClient client = PatientClients.inProcess(eu);

  @AfterEach
  void close() {
    client.close();
  }

  private String run(boolean json, String line) {
    return new CliSession(client, client.session(), Optional.empty(), json, NewPasswords.ASKED_FOR)
        .answer((Grammar.Action) Grammar.parse(Word.split(line)));
  }

  private void sends(String line, String action, String name, Map<String, String> settings) {
    eu.asked.clear();
    assertThat(run(false, line)).isEqualTo(TABLE);
    assertThat(eu.asked)
        .containsExactly(new AdminRequest.Administer("dc", action, name, new TreeMap<>(settings)));
  }

  @Test
  void commands_sendWhatIsMeant_andShowATable() {
    sends("dc list", "list", "", Map.of());
    sends("dc add ap ap.example:7401", "add", "ap", Map.of("address", "ap.example:7401"));
    sends("dc remove ap", "remove", "ap", Map.of());
    sends("dc remove ap --dead", "remove", "ap", Map.of("dead", "true"));
    sends("dc remove --dead ap", "remove", "ap", Map.of("dead", "true"));
    assertThat(run(true, "dc list")).isEqualTo(REPORT);
  }

  /** Nothing is open at a first start, while a peer is waited for. */
  @Test
  void datacenterWithoutKeyspaces_isShown_andWhatItWaitsFor() {
    eu.report = "{\"dc\":\"eu\",\"incarnation\":1}";
    assertThat(run(false, "stat")).contains("eu (incarnation 1)");
    eu.report = "{\"keyspaces\":[],\"notes\":[\"'carts' does not exist yet\"]}";
    assertThat(run(false, "keyspace list")).endsWith("changed\nnote: 'carts' does not exist yet");
    String problem =
        "{'level':'error','about':'ap ready','what':'ap: the disk is full','help':'df -h'}";
    ObjectNode answers = new ObjectMapper().createObjectNode();
    answers
        .putArray("answers")
        .addObject()
        .put("dc", "ap")
        .put("text", ("{'problems':[" + problem + "]}").replace('\'', '"'));
    eu.why = answers.toString();
    assertThat(run(false, "keyspace list")).endsWith("\nnote: ap: the disk is full: df -h");
    assertThat(run(true, "keyspace list")).contains("\"ap: the disk is full: df -h\"");
    eu.report = "{\"dc\":\"eu\",\"incarnation\":1}";
    assertThat(run(false, "stat")).contains("ap: the disk is full: df -h\n\neu (incarnation 1)");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:1",
    "10.0.0.7:65535",
    "[2001:db8::7]:7401",
    "[fe80::1%eth0]:7401",
    "a_b:1"
  })
  void address_isAHostAndAPort(String address) {
    sends("dc add ap " + address, "add", "ap", Map.of("address", address));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "dc ; usage: dc list | dc add NAME HOST:PORT",
        "dc list ap ; usage: dc list",
        "dc rename ap ; dc has no 'rename'",
        "dc add ap ; usage: dc add NAME HOST:PORT",
        "dc add ap host:1 more ; usage: dc add NAME HOST:PORT",
        "dc add ap host ; 'host' is no address: it must be HOST:PORT",
        "dc add ap host: ; 'host:' is no address",
        "dc add ap :7401 ; ':7401' is no address",
        "dc add ap host:0 ; with a port from 1 to 65535, for example eu.example:7401",
        "dc add ap host:65536 ; 'host:65536' is no address",
        "dc add ap host:123456789012 ; 'host:123456789012' is no address",
        "dc add ap host:-7 ; 'host:-7' is no address",
        "dc add ap host:74o1 ; 'host:74o1' is no address",
        "dc add ap a,b:7401 ; 'a,b:7401' is no address",
        "dc add ap http://b:7401 ; 'http://b:7401' is no address",
        "dc add ap 2001:db8::7:7401 ; '2001:db8::7:7401' is no address",
        "dc add ap 'a b:7401' ; 'a b:7401' is no address",
        "dc add ap '' ; '' is no address",
        "dc remove ; usage: dc remove NAME [--dead]",
        "dc remove ap us ; usage: dc remove NAME [--dead]",
        "dc remove --dead ; usage: dc remove NAME [--dead]",
        "dc remove ap --dead --dead ; usage: dc remove NAME [--dead]",
        "dc remove ap --alive ; usage: dc remove NAME [--dead]",
      },
      quoteCharacter = '"')
  void whatIsMistyped_saysWhatWouldBeRight_andSendsNothing(String line, String error) {
    refused(ErrorCode.INVALID_ARGUMENT, () -> run(false, line)).hasMessageContaining(error.strip());
    assertThat(eu.asked).isEmpty();
  }

  @Test
  void commands_areOffered_andExplained() {
    CliCompleter completer =
        new CliCompleter(
            new CliSession(
                client, client.session(), Optional.empty(), false, NewPasswords.ASKED_FOR));
    assertThat(completer.words(List.of(), "")).contains("dc");
    assertThat(HelpText.text(List.of("dc")))
        .contains("dc list", "dc add NAME HOST:PORT", "dc remove NAME [--dead]");
  }

  private static String placement(String keyspace) {
    return "{\"keyspace\":\"%s\",\"summary\":\"held by eu\",\"figures\":\"of %s\"}"
        .formatted(keyspace, keyspace);
  }

  @Test
  void placementOfOne_isThatAlone_andOfNone_isRefused() {
    eu.report = "{\"placements\":[" + placement("carts") + "," + placement("shop") + "]}";
    assertThat(run(false, "placement why carts")).isEqualTo("held by eu\nof carts");
    assertThat(run(true, "placement why shop"))
        .isEqualTo("{\"placements\":[" + placement("shop") + "]}");
    assertThat(run(false, "placement")).isEqualTo("held by eu\nheld by eu");
    eu.report =
        eu.report.replaceFirst("\\{", "{\"keyspaces\":[{\"name\":\"likes\",\"replicas\":\"eu\"}],");
    refused(ErrorCode.INVALID_ARGUMENT, () -> run(false, "placement why likes"))
        .hasMessageContaining("no keyspace 'likes' whose holders are placed by load")
        .hasMessageContaining("[carts, shop]");
    refused(ErrorCode.UNKNOWN_KEYSPACE, () -> run(false, "placement why like"))
        .hasMessageContaining("there is no keyspace 'like'; there are [likes]");
    eu.report = "{\"placements\":[]}";
    assertThat(run(false, "placement")).isEqualTo("none");
  }
}
