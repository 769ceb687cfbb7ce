package io.osier.datacenter.access;

import static java.util.Objects.requireNonNull;

import java.security.InvalidAlgorithmParameterException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.MessageDigest;
import java.security.MessageDigestSpi;
import java.security.NoSuchAlgorithmException;
import java.security.NoSuchProviderException;
import java.security.Provider;
import java.security.Security;
import java.security.spec.AlgorithmParameterSpec;
import java.util.List;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.MacSpi;
import org.jspecify.annotations.Nullable;

/** Counts the hashes that some code makes: Java's own, behind a provider that comes first. */
public final class CountedHashes {
  private static final String NAME = "counted";
  private static final ThreadLocal<@Nullable Counts> COUNTS = new ThreadLocal<>();

  /**
   * So much was done.
   *
   * @param macs HMACs made
   * @param digests hashes made besides
   * @param bytes that went into both
   */
  public record Work(int macs, int digests, long bytes) {
    public Work and(Work other) {
      return new Work(macs + other.macs, digests + other.digests, bytes + other.bytes);
    }
  }

  private static final class Counts {
    private int macs;
    private int digests;
    private long bytes;
  }

  private CountedHashes() {}

  /** What something takes on this thread. */
  public static Work of(Runnable what) {
    Counts counts = new Counts();
    Security.insertProviderAt(new Counting(), 1);
    COUNTS.set(counts);
    try {
      what.run();
    } finally {
      COUNTS.remove();
      Security.removeProvider(NAME);
    }
    return new Work(counts.macs, counts.digests, counts.bytes);
  }

  private static void fed(long bytes) {
    Counts counts = COUNTS.get();
    if (counts != null) {
      counts.bytes += bytes;
    }
  }

  private static final class Counting extends Provider {
    private static final long serialVersionUID = 1;

    Counting() {
      super(NAME, "1", "counts");
      putService(new Hashing(this, "Mac", "HmacSHA256"));
      putService(new Hashing(this, "MessageDigest", "SHA-256"));
    }
  }

  private static final class Hashing extends Provider.Service {
    Hashing(Provider of, String type, String algorithm) {
      super(of, type, algorithm, CountedHashes.class.getName(), List.of(), Map.of());
    }

    @Override
    public Object newInstance(@Nullable Object parameter) throws NoSuchAlgorithmException {
      try {
        return getType().equals("Mac") ? new CountedMac() : new CountedDigest();
      } catch (NoSuchProviderException e) {
        throw new NoSuchAlgorithmException(e);
      }
    }
  }

  private static final class CountedMac extends MacSpi {
    private final Mac mac = Mac.getInstance("HmacSHA256", "SunJCE");

    CountedMac() throws NoSuchAlgorithmException, NoSuchProviderException {}

    @Override
    protected int engineGetMacLength() {
      return mac.getMacLength();
    }

    @Override
    protected void engineInit(Key key, @Nullable AlgorithmParameterSpec params)
        throws InvalidKeyException, InvalidAlgorithmParameterException {
      mac.init(key, params);
    }

    @Override
    protected void engineUpdate(byte input) {
      fed(1);
      mac.update(input);
    }

    @Override
    protected void engineUpdate(byte[] input, int offset, int length) {
      fed(length);
      mac.update(input, offset, length);
    }

    @Override
    protected byte[] engineDoFinal() {
      Counts counts = COUNTS.get();
      if (counts != null) {
        counts.macs++;
      }
      return requireNonNull(mac.doFinal());
    }

    @Override
    protected void engineReset() {
      mac.reset();
    }
  }

  private static final class CountedDigest extends MessageDigestSpi {
    private final MessageDigest digest = MessageDigest.getInstance("SHA-256", "SUN");

    CountedDigest() throws NoSuchAlgorithmException, NoSuchProviderException {}

    @Override
    protected void engineUpdate(byte input) {
      fed(1);
      digest.update(input);
    }

    @Override
    protected void engineUpdate(byte[] input, int offset, int length) {
      fed(length);
      digest.update(input, offset, length);
    }

    @Override
    protected byte[] engineDigest() {
      Counts counts = COUNTS.get();
      if (counts != null) {
        counts.digests++;
      }
      return digest.digest();
    }

    @Override
    protected void engineReset() {
      digest.reset();
    }
  }
}
