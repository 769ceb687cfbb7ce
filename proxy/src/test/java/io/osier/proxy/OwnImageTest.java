package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Reading;
import io.osier.protocol.Greeting;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that uses the client, on a runtime made for it by jlink, as docs/API.md says. */
final class OwnImageTest {
  private static final ReplicaId EU = new ReplicaId("eu", 100);
  private static final Pattern MODULES = Pattern.compile("--add-modules \\\\\\s+([a-z.,]+)");

  @TempDir private Path dir;

  private static String tool(String name, String... arguments) {
    StringWriter out = new StringWriter();
    PrintWriter to = new PrintWriter(out);
    int code = ToolProvider.findFirst(name).orElseThrow().run(to, to, arguments);
    assertThat(code).as("%s says %s", name, out).isZero();
    return out.toString().strip();
  }

  private static String placeOf(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  private static String documented() throws IOException {
    Matcher found = MODULES.matcher(Files.readString(Path.of("../docs/API.md")));
    assertThat(found.find()).isTrue();
    return found.group(1);
  }

  private static Reply answer(Request request) {
    return switch (request) {
      case Greeting.Hello h ->
          new Reply.Welcome(1, EU, List.of(new Reply.KeyspaceInfo("shop", 500, 1, false)));
      case Request.Read r ->
          new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), VersionVector.EMPTY);
      default -> new Reply.Pong();
    };
  }

  @Test
  void programOnAnImageOfItsOwn_uses_theClient() throws Exception {
    String classPath = System.getProperty("java.class.path");
    String modules = documented();
    String needed =
        tool(
            "jdeps",
            "--print-module-deps",
            "--ignore-missing-deps",
            "--multi-release",
            "21",
            "--class-path",
            classPath,
            placeOf(OsierClient.class),
            placeOf(CrdtType.class),
            placeOf(Key.class));
    assertThat(modules.split(",")).as("as jdeps has them").contains(needed.split(","));
    Path image = dir.resolve("image");
    tool("jlink", "--strip-debug", "--add-modules", modules, "--output", image.toString());
    try (FakeServer eu = new FakeServer(OwnImageTest::answer)) {
      Process program =
          new ProcessBuilder(
                  image.resolve("bin/java").toString(),
                  "-cp",
                  classPath,
                  ImageApp.class.getName(),
                  eu.address())
              .redirectErrorStream(true)
              .redirectOutput(dir.resolve("out").toFile())
              .start();
      boolean ended = program.waitFor(2, TimeUnit.MINUTES);
      program.destroyForcibly();
      assertThat(Files.readString(dir.resolve("out"))).contains("Pair[name=read, count=7]");
      assertThat(ended).isTrue();
    }
  }
}
