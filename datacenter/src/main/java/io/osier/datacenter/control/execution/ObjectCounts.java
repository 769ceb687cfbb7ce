package io.osier.datacenter.control.execution;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How many objects a datacenter holds of each keyspace. One that joins asks the others, to say how
 * far it is. Both travel as notes; a datacenter of an older version leaves them aside.
 *
 * @param objects by keyspace
 */
record ObjectCounts(SortedMap<String, Long> objects) {
  private static final int ASK = 4;
  private static final int TELL = 5;
  private static final int NAME_MAX = 256;
  private static final int KEYSPACES_MAX = 4_096;

  ObjectCounts {
    objects = Collections.unmodifiableSortedMap(new TreeMap<>(objects));
  }

  /** The note that asks for them. */
  static byte[] question() {
    return new byte[] {ASK};
  }

  static boolean isQuestion(byte[] note) {
    return note.length == 1 && note[0] == ASK;
  }

  /** Whether a note tells them. */
  static boolean isAnswer(byte[] note) {
    return note.length > 0 && note[0] == TELL;
  }

  /** The note that tells them; of more keyspaces than there may be, the first. */
  byte[] encode() {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(TELL);
          out.writeCount(Math.min(KEYSPACES_MAX, objects.size()));
          objects.entrySet().stream()
              .limit(KEYSPACES_MAX)
              .forEach(
                  e -> {
                    out.writeText(e.getKey());
                    out.writeNumber(e.getValue());
                  });
        });
  }

  /**
   * Reads a note that {@link #isAnswer}.
   *
   * @throws MalformedException if the bytes are none
   */
  static ObjectCounts decode(byte[] note) {
    return Codec.readAll(new WireInput(note), "a note", ObjectCounts::read);
  }

  private static ObjectCounts read(WireInput in) {
    in.readByte();
    int n = in.readCount(2);
    SortedMap<String, Long> objects = new TreeMap<>();
    for (int i = 0; i < n; i++) {
      String keyspace = in.readText(NAME_MAX);
      objects.put(keyspace, Math.max(0, in.readNumber()));
    }
    return new ObjectCounts(new TreeMap<>(Map.copyOf(objects)));
  }
}
