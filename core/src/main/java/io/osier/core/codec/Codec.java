package io.osier.core.codec;

import com.esotericsoftware.kryo.KryoException;
import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The common parts of all encoded forms: the version of the format, with which every message, frame
 * and token begins, the largest sizes, and one kind of error for wrong bytes, whatever is wrong
 * with them.
 *
 * <p>Only Kryo's buffers are used, as the base of {@link WireInput} and {@link WireOutput}: they
 * grow, and they read and write numbers of variable length. Its serializers and its registry of
 * classes are not used: the code that knows a form writes it field by field, with a number for each
 * alternative.
 */
public final class Codec {
  /** The version that this code writes, and the only one that it reads. */
  public static final byte FORMAT_VERSION = 1;

  /**
   * Largest record, in bytes: twice {@link #OBJECT_BYTES_MAX}, since sizes are estimates and frames
   * hold more than one object.
   */
  public static final int RECORD_BYTES_MAX = 1 << 30;

  /**
   * Largest object, in bytes, including updates that all datacenters make before they hear of each
   * other: each keeps the object within its keyspace's limit, and together they may exceed it.
   */
  public static final int OBJECT_BYTES_MAX = RECORD_BYTES_MAX / 2;

  private Codec() {}

  /** Writes the version, with which a message begins. */
  public static void writeVersion(WireOutput out) {
    out.writeByte(FORMAT_VERSION);
  }

  /**
   * Reads the version.
   *
   * @throws MalformedException if it is another one
   */
  public static void expectVersion(WireInput in) {
    try {
      int version = in.readByte();
      if (version != FORMAT_VERSION) {
        throw new MalformedException("format version " + version + " is not " + FORMAT_VERSION);
      }
    } catch (KryoException e) {
      throw new MalformedException("no format version: " + e.getMessage(), e);
    }
  }

  /**
   * Decodes something that a store had, where the reader may read more from the store meanwhile: an
   * error that is not caused by the bytes, such as one of the disk, is thrown as it is.
   *
   * @param what what is decoded, for the error: "a record"
   * @throws MalformedException if the bytes do not encode it
   */
  public static <T> T decode(String what, Supplier<T> reader) {
    try {
      return reader.get();
    } catch (MalformedException e) {
      throw e;
    } catch (OsierException e) {
      boolean isOfBytes = e.code() == ErrorCode.MALFORMED || e.code() == ErrorCode.INVALID_ARGUMENT;
      throw isOfBytes ? malformed(what, e) : e;
    } catch (RuntimeException e) {
      throw malformed(what, e);
    }
  }

  private static MalformedException malformed(String what, RuntimeException e) {
    return new MalformedException("not " + what + ": " + OsierException.reasonOf(e), e);
  }

  /**
   * Decodes something that fills the rest of the input.
   *
   * @param what what is decoded, for the error: "a message"
   * @throws MalformedException if the bytes do not encode it
   */
  public static <T> T readAll(WireInput in, String what, Function<WireInput, T> reader) {
    try {
      T value = reader.apply(in);
      in.expectEnd();
      return value;
    } catch (MalformedException e) {
      throw e;
    } catch (RuntimeException e) {
      // Underflow and failed argument checks of the decoded types are the same thing to a caller.
      throw malformed(what, e);
    }
  }
}
