package io.osier.core.tls;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Reads a file with a password in its first line. */
public final class PasswordFile {
  /** The largest size of the file. */
  private static final long BYTES_MAX = 8 << 10;

  private PasswordFile() {}

  /**
   * Returns the first line, without its end, decoded from UTF-8. The only copy of it that is left
   * in the heap is the returned one, which the caller overwrites.
   *
   * @param withSource adds to an error's text where the file was named
   * @throws OsierException CONFIGURATION if the file cannot be read, is larger than 8 KiB, or is no
   *     UTF-8
   */
  public static char[] read(Path file, UnaryOperator<String> withSource) {
    byte[] bytes = bytes(file, withSource);
    CharBuffer chars = CharBuffer.allocate(0);
    try {
      chars = StandardCharsets.UTF_8.newDecoder().decode(firstLine(bytes));
      char[] password = new char[chars.remaining()];
      chars.get(password);
      return password;
    } catch (CharacterCodingException e) {
      throw wrong(withSource, file + " is not UTF-8", e);
    } finally {
      Arrays.fill(bytes, (byte) 0);
      Arrays.fill(chars.array(), '\0');
    }
  }

  private static byte[] bytes(Path file, UnaryOperator<String> withSource) {
    try {
      if (Files.size(file) > BYTES_MAX) {
        throw wrong(
            withSource,
            file + " is too large to be a file with a password in its first line",
            null);
      }
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw wrong(withSource, file + " cannot be read (" + e.getMessage() + ")", e);
    }
  }

  private static ByteBuffer firstLine(byte[] bytes) {
    int end = 0;
    while (end < bytes.length && bytes[end] != '\n' && bytes[end] != '\r') {
      end++;
    }
    return ByteBuffer.wrap(bytes, 0, end);
  }

  private static OsierException wrong(
      UnaryOperator<String> withSource, String what, @Nullable Throwable cause) {
    return OsierException.of(ErrorCode.CONFIGURATION, withSource.apply(what), cause);
  }
}
