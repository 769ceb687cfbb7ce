package io.osier.datacenter.admin;

import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.nio.charset.StandardCharsets;

/**
 * A question of one datacenter to another, or its answer, as a note over the peer links.
 *
 * @param isAnswer whether this is the answer
 * @param number the number of the asker's question
 * @param asker the datacenter that asks
 * @param other the datacenter that answers
 * @param text the question or the answer, at most {@value #TEXT_BYTES_MAX} bytes of UTF-8
 */
record QuestionNote(boolean isAnswer, long number, String asker, String other, String text) {
  /** Room for a status and additions to it; together with its head the text fits into a note. */
  static final int TEXT_BYTES_MAX = 63 << 10;

  private static final int ASK = 6;
  private static final int ANSWER = 7;
  private static final int NAME_MAX = 64;

  static boolean isOne(byte[] note) {
    return note.length > 0 && (note[0] == ASK || note[0] == ANSWER);
  }

  /** Returns the datacenter that it is for. */
  String to() {
    return isAnswer ? asker : other;
  }

  /** Returns the datacenter that made it. */
  String from() {
    return isAnswer ? other : asker;
  }

  /** Returns the answer to this question. */
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
   * Decodes a note.
   *
   * @throws MalformedException if the bytes are no such note
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
