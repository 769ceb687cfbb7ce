package io.osier.datacenter.store.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RocksLibraryTest {
  private static final byte[] LIBRARY =
      "a library, as far as it matters here".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path dir;
  private URL entry;
  private Path kept;

  @BeforeEach
  void jar() throws Exception {
    Path jar = dir.resolve("rocksdb.jar");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
      out.putNextEntry(new ZipEntry("lib.so"));
      out.write(LIBRARY);
    }
    entry = URI.create("jar:" + jar.toUri() + "!/lib.so").toURL();
    kept = dir.resolve("cache/lib.so");
  }

  @Test
  void library_isUnpackedOnce() throws Exception {
    assertThat(RocksLibrary.keep(entry, kept)).isTrue();
    assertThat(kept).hasBinaryContent(LIBRARY);
    FileTime then = FileTime.from(Instant.parse("2020-01-01T00:00:00Z"));
    Files.setLastModifiedTime(kept, then);
    assertThat(RocksLibrary.keep(entry, kept)).isTrue();
    assertThat(Files.getLastModifiedTime(kept)).isEqualTo(then);
  }

  @Test
  void damagedLibrary_isReplaced() throws Exception {
    Files.createDirectories(kept.getParent());
    byte[] turned = LIBRARY.clone();
    turned[7] ^= 1;
    for (byte[] damaged : new byte[][] {turned, new byte[0], new byte[LIBRARY.length + 1]}) {
      Files.write(kept, damaged);
      assertThat(RocksLibrary.keep(entry, kept)).isTrue();
      assertThat(kept).hasBinaryContent(LIBRARY);
    }
  }

  @Test
  void severalAtOnce_leaveTheLibraryAlone() throws Exception {
    assertThat(IntStream.range(0, 16).parallel().allMatch(i -> RocksLibrary.keep(entry, kept)))
        .isTrue();
    assertThat(kept).hasBinaryContent(LIBRARY);
    try (Stream<Path> files = Files.list(kept.getParent())) {
      assertThat(files).containsExactly(kept);
    }
  }

  @Test
  void whereItIsNotInAJar_orCannotBeWritten_nothingIsKept() throws Exception {
    assertThat(RocksLibrary.keep(null, kept)).isFalse();
    assertThat(RocksLibrary.keep(dir.toUri().toURL(), kept)).isFalse();
    assertThat(RocksLibrary.keep(entry, dir.resolve("rocksdb.jar/cache/lib.so"))).isFalse();
    assertThat(RocksLibrary.keep(entry, dir)).isFalse();
  }
}
