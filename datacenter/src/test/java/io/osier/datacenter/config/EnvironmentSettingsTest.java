package io.osier.datacenter.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class EnvironmentSettingsTest {
  private static final String GOOD =
      """
      osier {
        dc = eu
        admin { enabled = true, port = 9002 }
        store.dir = "kept"
        keyspaces { shop {} }
      }
      """;

  @TempDir private Path dir;
  private Path file;
  private final List<String> warnings = new ArrayList<>();

  @BeforeEach
  void write() throws IOException {
    file = Files.writeString(dir.resolve("eu.conf"), GOOD);
  }

  private DatacenterConfig read(Map<String, String> environment) {
    return ConfigReader.read(file.toFile(), environment, warnings::add);
  }

  /** What Kubernetes sets in each pod for a Service with one port that has a name. */
  private static Map<String, String> service(String name, String at, int port, String protocol) {
    String stem = name.toUpperCase(Locale.ROOT).replace('-', '_');
    String link = protocol + "://" + at + ":" + port;
    String port1 = stem + "_PORT_" + port + "_" + protocol.toUpperCase(Locale.ROOT);
    Map<String, String> variables = new TreeMap<>();
    variables.put(stem + "_SERVICE_HOST", at);
    variables.put(stem + "_SERVICE_PORT", "" + port);
    variables.put(stem + "_SERVICE_PORT_CLIENT", "" + port);
    variables.put(stem + "_PORT", link);
    variables.put(port1, link);
    variables.put(port1 + "_PROTO", protocol);
    variables.put(port1 + "_PORT", "" + port);
    variables.put(port1 + "_ADDR", at);
    return variables;
  }

  @ParameterizedTest
  @ValueSource(strings = {"osier", "osier-store", "osier-service", "osier-peers", "osier-eu-1"})
  void service_whoseNameBeginsWithOsier_saysNothing(String name) {
    read(service(name, "10.96.3.4", 7400, "tcp"));
    assertThat(warnings).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "osier-admin, OSIER_ADMIN_PORT, 10.96.3.4, tcp",
    "osier-listen-client, OSIER_LISTEN_CLIENT_PORT, fd00::4, tcp",
    "osier-listen-peer, OSIER_LISTEN_PEER_PORT, 10.96.3.4, sctp",
  })
  void service_whoseVariableIsASettings_isIgnored_andNamedOnce(
      String name, String variable, String at, String protocol) {
    DatacenterConfig config = read(service(name, at, 7402, protocol));
    assertThat(config.admin().orElseThrow().port()).isEqualTo(9002);
    assertThat(config.clientPort()).isEqualTo(7400);
    assertThat(config.peerPort()).isEqualTo(7401);
    assertThat(warnings).singleElement().asString().contains(variable).contains("Service");
  }

  @Test
  void linkedContainers_andTheLauncher_sayNothing() {
    read(
        Map.of(
            "OSIER_PORT", "tcp://172.17.0.2:5432",
            "OSIER_NAME", "/shop/osier",
            "OSIER_ENV_PASSWORD", "secret",
            "OSIER_1_PORT", "tcp://172.17.0.2:5432",
            "OSIER_1_NAME", "/shop/osier_1"));
    read(
        Map.of(
            "OSIER_JAVA_OPTIONS", "-Xmx1g",
            "OSIER_LOG", "debug",
            "OSIER_CONTAINERS", "required",
            "OSIER_LOAD_SECONDS", "40",
            "HOME", "/"));
    assertThat(warnings).isEmpty();
  }

  @Test
  void whatIsNoSetting_isAWarning_thatDoesNotShowTheValue() {
    assertThat(
            read(
                Map.of(
                    "OSIER_HOME", "/opt/osier",
                    "OSIER_VERSION", "1.2",
                    "OSIER_OPTS", "secret")))
        .isEqualTo(read(Map.of()));
    assertThat(warnings)
        .hasSize(3)
        .allMatch(w -> w.endsWith("is no setting, and is ignored"))
        .noneMatch(w -> w.contains("secret"))
        .anyMatch(w -> w.contains("OSIER_HOME"));
  }

  @Test
  void slip_isAWarning_withWhatWasMeant() {
    assertThat(read(Map.of("OSIER_LISTEN_CLEINT_PORT", "9000")).clientPort()).isEqualTo(7400);
    assertThat(warnings)
        .singleElement()
        .asString()
        .contains("OSIER_LISTEN_CLEINT_PORT")
        .endsWith("did you mean OSIER_LISTEN_CLIENT_PORT?");
  }

  @Test
  void emptyVariable_isNotSet_butWithoutADirectoryAllIsInMemory() {
    DatacenterConfig config =
        read(
            Map.of(
                "OSIER_DC", "",
                "OSIER_ADMIN_PORT", " ",
                "OSIER_INSECURE", "",
                "OSIER_LISTEN_HOST", "",
                "OSIER_KEYSPACE_DEFAULTS_SLA", ""));
    assertThat(config).isEqualTo(read(Map.of()));
    assertThat(config.store().dir()).isPresent();
    assertThat(read(Map.of("OSIER_STORE_DIR", "")).store().dir()).isEmpty();
    assertThat(warnings).isEmpty();
  }

  @Test
  void blanksAroundAValue_areNoneOfIt() {
    assertThat(read(Map.of("OSIER_LISTEN_CLIENT_PORT", "9000\r")).clientPort()).isEqualTo(9000);
    assertThat(read(Map.of("OSIER_DC", " us ")).dc()).isEqualTo("us");
  }

  @ParameterizedTest
  @CsvSource({
    "OSIER_ADMIN_PORT, 74o2, whole number",
    "OSIER_ADMIN_PORT, 10.96.3.4:7402, whole number",
    "OSIER_ADMIN_PORT, http://10.96.3.4, whole number",
    "OSIER_LISTEN_CLIENT_PORT, 65536, 65535",
    "OSIER_INSECURE, perhaps, true or false"
  })
  void wrongValueOfASetting_stops(String variable, String value, String says) {
    assertThatThrownBy(() -> read(Map.of(variable, value))).hasMessageContaining(says);
  }
}
