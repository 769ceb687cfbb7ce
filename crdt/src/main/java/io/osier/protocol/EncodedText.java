package io.osier.protocol;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.Codec;
import io.osier.core.codec.MalformedException;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import java.util.Base64;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Encodes records as text of letters, digits, '-' and '_', which clients carry and which may come
 * back from anywhere. Thread-safe.
 */
public final class EncodedText {
  /** Largest record of most kinds, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = 64 << 10;

  private EncodedText() {}

  /** Returns a record's bytes, with the version first. */
  public static byte[] bytes(Consumer<WireOutput> content) {
    return WireOutput.bytesOf(
        out -> {
          out.startRecord();
          Codec.writeVersion(out);
          content.accept(out);
        });
  }

  /** Returns the text of a record. */
  public static String of(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Reads a record.
   *
   * @param kind the expected kind of record, for the error
   * @param source the call that returns such a text, for the error
   * @param bytesMax the largest record in bytes
   * @param content reads the bytes after the version
   * @throws OsierException INVALID_ARGUMENT if the text is no such record
   */
  public static <T> T read(
      String text, String kind, String source, int bytesMax, Function<WireInput, T> content) {
    try {
      if (text.length() > (bytesMax * 4L + 2) / 3) {
        throw new MalformedException("it has " + text.length() + " characters");
      }
      WireInput in = new WireInput(Base64.getUrlDecoder().decode(text));
      Codec.expectVersion(in);
      T read = content.apply(in);
      in.expectEnd();
      return read;
    } catch (RuntimeException e) {
      // Any fault (base 64, underflow, names, order) is the same thing to a caller.
      throw OsierException.of(
          ErrorCode.INVALID_ARGUMENT,
          "this is no "
              + kind
              + " ("
              + OsierException.reasonOf(e)
              + "); pass what "
              + source
              + " gave",
          e);
    }
  }
}
