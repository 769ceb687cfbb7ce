package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HostPortTest {
  @Test
  void bound_isWhereThisMachineReachesIt() {
    assertThat(HostPort.bound("0.0.0.0", 1)).hasToString("localhost:1");
    assertThat(HostPort.bound("::", 1)).hasToString("localhost:1");
    assertThat(HostPort.bound("10.0.0.7", 1)).hasToString("10.0.0.7:1");
  }

  @ParameterizedTest
  @CsvSource({
    "localhost:1, localhost, 1",
    "eu.example:7401, eu.example, 7401",
    "a_b-c:65535, a_b-c, 65535",
    "10.0.0.7:7401, 10.0.0.7, 7401",
    "[2001:db8::7]:7401, 2001:db8::7, 7401",
    "[::1]:7401, ::1, 7401",
    "[::ffff:10.0.0.7]:7401, ::ffff:10.0.0.7, 7401",
    "[fe80::1%eth0]:7401, fe80::1%eth0, 7401",
    "eu.example.:7401, eu.example., 7401",
    "EU.Example:7401, EU.Example, 7401"
  })
  void address_isAHostAndAPort(String text, String host, int port) {
    assertThat(HostPort.parse(text)).contains(new HostPort(host, port));
    assertThat(new HostPort(host, port)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ":",
        "host",
        "host:",
        ":7401",
        "host:0",
        "host:65536",
        "host:123456789012",
        "host:-7",
        "host:+7",
        "host:74o1",
        "host: 7401",
        "ho st:7401",
        "ho\u00a0st:7401",
        "a,b:7401",
        "http://b:7401",
        "2001:db8::7:7401",
        "::1",
        "[::1]",
        "[]:7401",
        "[host]:7401",
        "[::1:7401",
        "::1]:7401",
        "host:7401x",
        "host:74\n01",
        ".:7401",
        "..:7401",
        "a..b:7401",
        ".a:7401",
        "tcp://10.96.3.4:7402",
        "[fe80::1%]:7401",
        "host:\u0661"
      })
  void whatIsNone_isNotTaken(String text) {
    assertThat(HostPort.parse(text)).isEmpty();
  }

  /** Whoever takes the example over in a client would call the peers' port, and the other way. */
  @Test
  void exampleInErrors_hasNobodysPort() {
    assertThat(HostPort.ALLOWED).doesNotContain("7400", "7401");
  }

  @Test
  void blanksAround_andNamesOfAnyLanguage_areTaken() {
    assertThat(HostPort.parse(" host:7401\n")).contains(new HostPort("host", 7401));
    assertThat(HostPort.parse("b\u00fccher.example:7401"))
        .contains(new HostPort("b\u00fccher.example", 7401));
  }

  @ParameterizedTest
  @ValueSource(strings = {"::", "::1", "fe80::1%eth0", "0.0.0.0", "localhost", "a.example."})
  void hostAlone_isANameOrAnAddress(String text) {
    assertThat(HostPort.host(text)).contains(text);
  }

  @Test
  void hostAlone_mayHaveBrackets_whichAreNoneOfIt() {
    assertThat(HostPort.host(" [::] ")).contains("::");
    assertThat(HostPort.host("[fe80::1%eth0]")).contains("fe80::1%eth0");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "[::1",
        "[eu]",
        "[::1]:7400",
        "host:7400",
        "http://a",
        "a b",
        "*",
        "tcp://10.0.0.1:7"
      })
  void whatIsNoHost_isNotTaken(String text) {
    assertThat(HostPort.host(text)).isEmpty();
  }
}
