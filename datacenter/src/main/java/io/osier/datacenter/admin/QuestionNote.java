package io.osier.datacenter.admin;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.nio.charset.StandardCharsets;

/**
 * A question that one datacenter puts to another, or the answer to it, as a note over the links
 * between them.
 *
 * @param isAnswer whether it is one
 * @param number which of the asker's questions it is about
 * @param asker the datacenter that asks
 * @param other the one that is asked, and answers
 * @param text what is asked or answered, at most {@value #TEXT_BYTES_MAX} bytes of UTF-8
 */
record QuestionNote(boolean isAnswer, long number, String asker, String other, String text) {
  /** A status, and what is said beside it; with its head it fits into a note. */
  static final int TEXT_BYTES_MAX = 63 << 10;

  private static final int ASK = 6;
  private static final int ANSWER = 7;
  private static final int NAME_MAX = 64;

  static boolean isOne(byte[] note) {
    return note.length > 0 && (note[0] == ASK || note[0] == ANSWER);
  }

  /** Who it is meant for. */
  String to() {
    return isAnswer ? asker : other;
  }

  /** Who made it. */
  String from() {
    return isAnswer ? other : asker;
  }

  /** What is answered to it. */
  QuestionNote answered(String with) {
    return new QuestionNote(true, number, asker, other, with);
  }

  byte[] encode() {
    return WireOutput.bytesOf(
        out -> {
          out.writeByte(isAnswer ? ANSWER : ASK);
          out.writeNumber(number);
          out.writeText(asker);
          out.writeText(other);
          out.writeBlob(text.getBytes(StandardCharsets.UTF_8));
        });
  }

  /**
   * Reads one.
   *
   * @throws MalformedException if the bytes are none
   */
  static QuestionNote decode(byte[] bytes) {
    return Codec.readAll(
        new WireInput(bytes),
        "a note",
        in ->
            new QuestionNote(
                in.readByte() == ANSWER,
                in.readNumber(),
                in.readText(NAME_MAX),
                in.readText(NAME_MAX),
                new String(in.readBlob(TEXT_BYTES_MAX), StandardCharsets.UTF_8)));
  }
}
