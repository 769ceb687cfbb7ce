package io.osier.datacenter.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.codec.MalformedException;
import io.osier.datacenter.trace.TraceNote.Joined;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class TraceNoteTest {
  private static final TraceNote NOTE =
      new TraceNote(
          "shop", 255, List.of(new Joined(12, 10, 0), new Joined(Long.MAX_VALUE, 1, 3_600_000)));

  @Test
  void note_comesAsItWasSent() {
    byte[] bytes = NOTE.encode();
    assertThat(TraceNote.isOne(bytes)).isTrue();
    assertThat(TraceNote.decode(bytes)).isEqualTo(NOTE);
  }

  @Test
  void largestNote_fits() {
    List<Joined> many =
        LongStream.range(0, TraceNote.JOINED_MAX)
            .mapToObj(i -> new Joined(Long.MAX_VALUE, Long.MAX_VALUE - i, Long.MAX_VALUE))
            .toList();
    assertThat(new TraceNote("k".repeat(64), 255, many).encode().length)
        .isLessThanOrEqualTo(io.osier.propagation.net.PeerTransport.NOTE_BYTES_MAX);
  }

  /** What a peer sends is nothing that anybody must trust. */
  @Test
  void brokenNotes_areMalformedAndNothingElse() {
    byte[] whole = NOTE.encode();
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      byte[] broken = Arrays.copyOf(whole, 1 + random.nextInt(whole.length));
      broken[random.nextInt(broken.length)] = (byte) random.nextInt();
      try {
        TraceNote.decode(broken);
      } catch (MalformedException e) {
        // As it should be.
      } catch (RuntimeException e) {
        throw new AssertionError("seed " + seed + ": " + Arrays.toString(broken), e);
      }
    }
    assertThat(TraceNote.isOne(new byte[0])).isFalse();
  }
}
