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

/** A record as text of letters, digits, '-' and '_', which travels and comes from anywhere. */
public final class EncodedText {
  /** Largest form of most, in bytes; its text has a third more characters. */
  public static final int BYTES_MAX = 64 << 10;

  private EncodedText() {}

  /** A record's bytes, its version first. */
  public static byte[] bytes(Consumer<WireOutput> content) {
    return WireOutput.bytesOf(
        out -> {
          out.startRecord();
          Codec.writeVersion(out);
          content.accept(out);
        });
  }

  /** The text of a record. */
  public static String of(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /**
   * Reads a record.
   *
   * @param kind what it should be, for the error
   * @param source what gives such a text, for the error
   * @param bytesMax its largest form in bytes
   * @param content reads what stands behind the version
   * @throws OsierException INVALID_ARGUMENT if the text is none
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
      // Whatever is wrong with it (base 64, underflow, names, order): to a caller it is one thing.
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
