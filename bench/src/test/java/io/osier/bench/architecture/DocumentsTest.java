package io.osier.bench.architecture;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import io.osier.bench.BenchCommand;
import io.osier.propagation.net.link.PeerVersions;
import io.osier.protocol.RequestLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Holds the repository's pages against the code, and against the form that they have. */
final class DocumentsTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static final Pattern CODE_BLOCK = Pattern.compile("```.*?```", Pattern.DOTALL);
  private static final Pattern TYPE = Pattern.compile("`([A-Z]\\w*[a-z]\\w*)(?:\\.\\w+)?`");
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)|^\\[\\w+\\]: ([^:]+)$");
  private static final Pattern DECLARED =
      Pattern.compile("\\b(?:class|interface|record|enum) ([A-Z]\\w*)");

  private static final Pattern MEMBER = Pattern.compile("`([A-Z]\\w*)\\.([A-Za-z]\\w*)");

  /** A command of bench, and what stands behind it up to its end. */
  private static final Pattern BENCH =
      Pattern.compile("osier\\s+bench\\s+([a-z]+)((?:(?!osier|`|#|\\n\\n)[\\s\\S])*)");

  private static final Pattern SCENARIO = Pattern.compile("\\s+([a-z][a-z-]*)");
  private static final Pattern OPTION = Pattern.compile("\\s(--[a-z][a-z-]*)");

  /** Of the JDK, and alerts. */
  private static final Pattern OTHERS = Pattern.compile("CompletableFuture|Duration|Flow");

  private static List<Path> pages() throws IOException {
    try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
      List<Path> pages = new ArrayList<>(docs.filter(p -> p.toString().endsWith(".md")).toList());
      pages.add(ROOT.resolve("README.md"));
      pages.add(ROOT.resolve("CONTRIBUTING.md"));
      assertThat(pages).hasSizeGreaterThan(20);
      return pages;
    }
  }

  /** What is wrong, with the page's name in front; a page is given as its lines. */
  private static List<String> wrong(Function<List<String>, Stream<String>> inPage)
      throws IOException {
    List<String> wrong = new ArrayList<>();
    for (Path page : pages()) {
      inPage
          .apply(Files.readAllLines(page))
          .forEach(w -> wrong.add(ROOT.relativize(page) + ": " + w));
    }
    return wrong;
  }

  private static Stream<String> found(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(r -> r.group(1));
  }

  private static Set<String> declaredTypes() throws IOException {
    Set<String> types = new TreeSet<>();
    for (Path module : modules()) {
      try (Stream<Path> files = Files.walk(module.resolve("src"))) {
        files
            .filter(f -> f.toString().endsWith(".java"))
            .forEach(f -> found(DECLARED, read(f)).forEach(types::add));
      }
    }
    return types;
  }

  /** The folders of modules that have sources. */
  static List<Path> modules() throws IOException {
    try (Stream<Path> top = Files.list(ROOT);
        Stream<Path> ofClient = Files.list(ROOT.resolve("proxy"))) {
      return Stream.concat(top, ofClient).filter(f -> Files.isDirectory(f.resolve("src"))).toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void lines_haveAtMostHundredColumns() throws IOException {
    assertThat(wrong(lines -> lines.stream().filter(l -> l.codePointCount(0, l.length()) > 100)))
        .isEmpty();
  }

  @Test
  void types_areDeclaredSomewhere() throws IOException {
    Set<String> types = declaredTypes();
    String alerts =
        read(ROOT.resolve("datacenter/src/dist/share/monitoring/prometheus/alerts.yml"));
    assertThat(
            wrong(
                lines ->
                    found(TYPE, CODE_BLOCK.matcher(String.join("\n", lines)).replaceAll(""))
                        .filter(t -> !types.contains(t))
                        .filter(t -> !OTHERS.matcher(t).matches())
                        .filter(t -> !alerts.contains("alert: " + t))
                        .distinct()))
        .as("names of types that no source declares")
        .isEmpty();
  }

  @Test
  void links_leadToFiles() throws IOException {
    List<String> broken = new ArrayList<>();
    for (Path page : pages()) {
      for (String line : Files.readAllLines(page)) {
        Matcher link = LINK.matcher(line);
        while (link.find()) {
          String to = link.group(1) != null ? link.group(1) : link.group(2);
          if (!Files.exists(page.resolveSibling(to))) {
            broken.add(ROOT.relativize(page) + ": " + to);
          }
        }
      }
    }
    assertThat(broken).isEmpty();
  }

  /** What stands behind a type's name must be in its source, or in that of another of its name. */
  @Test
  void membersOfTypes_areInTheirSources() throws IOException {
    Map<String, String> sources = new HashMap<>(); // of several types of one name, all of them
    for (Path module : modules()) {
      try (Stream<Path> files = Files.walk(module.resolve("src"))) {
        files
            .filter(f -> f.toString().endsWith(".java"))
            // Two types may have one name, and which module comes first is chance.
            .forEach(
                f ->
                    sources.merge(
                        f.getFileName().toString().replace(".java", ""), read(f), String::concat));
      }
    }
    assertThat(
            wrong(
                lines ->
                    MEMBER
                        .matcher(String.join("\n", lines))
                        .results()
                        .filter(m -> sources.containsKey(m.group(1)))
                        .filter(
                            m ->
                                !Pattern.compile("\\b" + m.group(2) + "\\b")
                                    .matcher(sources.get(m.group(1)))
                                    .find())
                        .map(m -> m.group(1) + "." + m.group(2))))
        .isEmpty();
  }

  @Test
  void commandsOfBench_andTheirOptions_areThere() throws IOException {
    Map<String, CommandLine> commands = new CommandLine(new BenchCommand()).getSubcommands();
    Path scenarios = ROOT.resolve("bench/src/main/resources/io/osier/bench/run");
    List<Path> texts = new ArrayList<>(pages());
    for (String script : List.of(".ci/run", ".ci/nightly", "docker-compose.yml")) {
      texts.add(ROOT.resolve(script));
    }
    List<String> wrong = new ArrayList<>();
    int options = 0;
    for (Path text : texts) {
      Matcher bench = BENCH.matcher(read(text));
      while (bench.find()) {
        CommandLine command = commands.get(bench.group(1));
        Matcher scenario = SCENARIO.matcher(bench.group(2));
        boolean isThere =
            command != null
                && (!bench.group(1).equals("run")
                    || !scenario.lookingAt()
                    || Files.exists(scenarios.resolve(scenario.group(1) + ".conf")));
        Matcher option = OPTION.matcher(bench.group(2));
        while (isThere && option.find()) {
          options++;
          isThere = command.getCommandSpec().findOption(option.group(1)) != null;
        }
        if (!isThere) {
          wrong.add(ROOT.relativize(text) + ": " + bench.group());
        }
      }
    }
    assertThat(wrong).isEmpty();
    assertThat(options).as("options that were looked at").isGreaterThan(10);
  }

  @Test
  void versionsOfTheProtocols_areThoseThatAreSpoken() throws IOException {
    assertThat(told("this one speaks|greetings of versions|Peer protocol, versions"))
        .containsExactly(PeerVersions.OLDEST + " to " + PeerVersions.NEWEST);
    assertThat(told("Client protocol, versions"))
        .containsExactly(
            RequestLimits.PROTOCOL_VERSION_MIN + " to " + RequestLimits.PROTOCOL_VERSION);
  }

  /** The ranges of versions that pages tell behind some words. */
  private static Set<String> told(String words) throws IOException {
    Pattern range = Pattern.compile("(?:" + words + ")\\s(\\d+ to \\d+)");
    Set<String> told = new TreeSet<>();
    pages().forEach(page -> found(range, read(page)).forEach(told::add));
    return told;
  }

  @Test
  void decisions_areShortAndInTheIndex() throws IOException {
    Path folder = ROOT.resolve("docs/decisions");
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> pages =
          files
              .filter(f -> !f.endsWith("README.md"))
              .sorted()
              .collect(toCollection(ArrayList::new));
      assertThat(pages).hasSizeGreaterThan(50);
      String index = read(folder.resolve("README.md"));
      for (Path page : pages) {
        assertThat(Files.readAllLines(page)).as("%s", page).hasSizeLessThanOrEqualTo(60);
        assertThat(index).contains("(" + page.getFileName() + ")");
      }
    }
    assertThat(Files.readAllLines(ROOT.resolve("docs/ARCHITECTURE.md")))
        .hasSizeLessThanOrEqualTo(300);
  }
}
