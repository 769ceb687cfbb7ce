package io.osier.core.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.UnknownHostException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ListenAddressTest {
  private static Dial.Lookup leadsTo(String addresses) {
    return host -> {
      String[] texts = addresses.split(" ", -1);
      InetAddress[] all = new InetAddress[texts.length];
      for (int i = 0; i < all.length; i++) {
        all[i] = InetAddress.getByName(texts[i]);
      }
      return all;
    };
  }

  /** 198.51.100.0/24 and 2001:db8::/32 are for documentation: no machine has them. */
  @ParameterizedTest
  @CsvSource({
    "localhost, 198.51.100.7 127.0.0.1, 127.0.0.1",
    "LOCALHOST, 2001:db8::7 ::1 127.0.0.1, ::1",
    "eu.example, 198.51.100.7 127.0.0.5, 127.0.0.5",
    "eu.example, 198.51.100.7, 198.51.100.7", // the system may let it be bound all the same
    "2001:db8::7, 2001:db8::7, 2001:db8::7",
    "0.0.0.0, 0.0.0.0, 0.0.0.0",
    "::, ::, ::"
  })
  void firstAddressOfThisMachine_isListenedOn(String host, String found, String at)
      throws UnknownHostException {
    assertThat(ListenAddress.of(host, leadsTo(found))).isEqualTo(InetAddress.getByName(at));
  }

  @ParameterizedTest
  @CsvSource({
    "localhost, 198.51.100.7, loopback",
    "localhost, 0.0.0.0, loopback",
    "eu.example, 198.51.100.7 198.51.100.8, this machine has no such address"
  })
  void nameThatLeadsElsewhere_isRefused(String host, String found, String says) {
    assertThatThrownBy(() -> ListenAddress.of(host, leadsTo(found)))
        .isInstanceOf(UnknownHostException.class)
        .hasMessageContaining(says);
  }

  @Test
  void nameThatIsUnknown_isRefused() {
    Dial.Lookup nothing =
        host -> {
          throw new UnknownHostException(host);
        };
    assertThatThrownBy(() -> ListenAddress.of("eu.example", nothing))
        .hasMessageContaining("cannot be resolved");
  }
}
