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
 * How many objects a datacenter holds of each keyspace. A joining datacenter asks the others for
 * them to tell its progress. Question and answer travel as notes, which a datacenter of an older
 * version ignores.
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

  /** Returns the note that asks for counts. */
  static byte[] question() {
    return new byte[] {ASK};
  }

  static boolean isQuestion(byte[] note) {
    return note.length == 1 && note[0] == ASK;
  }

  /** Returns whether a note is an answer with counts. */
  static boolean isAnswer(byte[] note) {
    return note.length > 0 && note[0] == TELL;
  }

  /** Returns the note with these counts; if there are too many keyspaces, with the first. */
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
   * Decodes a note for which {@link #isAnswer} is true.
   *
   * @throws MalformedException if the bytes are no counts
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
