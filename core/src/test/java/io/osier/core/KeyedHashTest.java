package io.osier.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class KeyedHashTest {
  /** The key of the paper's test values: the bytes from 0 to 15. */
  private static final long K0 = 0x0706050403020100L;

  private static final long K1 = 0x0f0e0d0c0b0a0908L;

  /** The paper's appendix A, and two of the values that its authors published beside it. */
  @Test
  void sipHash24_givesThePublishedValues() {
    KeyedHash hash = new KeyedHash(K0, K1, 2, 4);
    assertThat(hash.of(counting(15), 0, 15)).isEqualTo(0xa129ca6149be45e5L);
    assertThat(hash.of(counting(0), 0, 0)).isEqualTo(0x726fdb47dd0e0e31L);
    assertThat(hash.of(counting(8), 0, 8)).isEqualTo(0x93f5f5799a932462L);
  }

  @Test
  void partOfTheBytes_isHashedAsThemselves() {
    KeyedHash hash = KeyedHash.of(() -> 7);
    byte[] bytes = counting(40);
    for (int from = 0; from < 20; from++) {
      for (int length = 0; from + length <= bytes.length; length++) {
        byte[] alone = Arrays.copyOfRange(bytes, from, from + length);
        assertThat(hash.of(bytes, from, length)).isEqualTo(hash.of(alone, 0, length));
        if (length > 0) {
          assertThat(Key.of(alone).hashBy(hash)).isEqualTo(hash.of(bytes, from, length));
        }
      }
    }
  }

  /**
   * {@link Key#hashCode} of these is one number: a client that chooses keys can choose such keys.
   */
  @Test
  void keysOfOneHashCode_haveDifferentHashes() {
    KeyedHash hash = KeyedHash.of(() -> 7);
    Set<Integer> codes = new HashSet<>();
    Set<Long> hashes = new HashSet<>();
    for (int i = 0; i < 1 << 10; i++) {
      StringBuilder text = new StringBuilder();
      for (int bit = 0; bit < 10; bit++) {
        text.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      Key key = Key.of(text.toString());
      codes.add(key.hashCode());
      hashes.add(key.hashBy(hash));
    }
    assertThat(codes).hasSize(1);
    assertThat(hashes).hasSize(1 << 10);
  }

  private static byte[] counting(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) i;
    }
    return bytes;
  }
}
