package io.osier.datacenter.cli.session;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import io.osier.crdt.CrdtType;
import io.osier.datacenter.config.ClosestName;
import io.osier.datacenter.words.ObjectGrammar;
import io.osier.datacenter.words.Words;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Renders the help, and suggests words similar to a mistyped one. Pure. */
final class HelpText {
  static final int WIDTH = 80;

  /** The column at which meanings begin. */
  private static final int COLUMN = 34;

  private record Line(String usage, String meaning) {
    boolean names(String word) {
      return Arrays.asList(usage.split("[^a-z-]+")).contains(word);
    }

    /** Renders two columns; a long usage stands above its meaning. */
    String text() {
      StringBuilder text = new StringBuilder("  ").append(usage);
      int at = text.length();
      if (at > COLUMN - 2) {
        text.append('\n');
        at = 0;
      }
      text.append(" ".repeat(COLUMN - at));
      return text.append(wrapped(meaning, COLUMN)).toString();
    }
  }

  private record Group(String title, List<Line> lines) {}

  /**
   * The lines of the help file: groups, each with a title and its lines, and last the text about
   * values.
   */
  private static final List<String> TEXT = read();

  private static final List<Group> GROUPS = groups();

  private HelpText() {}

  private static List<String> read() {
    try (InputStream in = requireNonNull(HelpText.class.getResourceAsStream("help.txt"))) {
      return new String(in.readAllBytes(), UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Parses the groups; in a line two blanks separate usage and meaning. */
  private static List<Group> groups() {
    List<Group> groups = new ArrayList<>();
    for (String line : TEXT.subList(0, TEXT.size() - 1)) {
      if (line.startsWith(" ")) {
        String[] parts = line.strip().split("  ", 2);
        groups.getLast().lines.add(new Line(parts[0], parts[1]));
      } else {
        groups.add(new Group(line, new ArrayList<>()));
      }
    }
    return groups;
  }

  /** Returns the first words of commands that do not begin with a type. */
  static List<String> commands() {
    Set<String> types =
        Stream.of(CrdtType.values()).map(CrdtType::label).collect(Collectors.toSet());
    return GROUPS.stream()
        .flatMap(group -> group.lines.stream())
        .flatMap(line -> Stream.of(line.usage.split(" ", 2)[0].split("\\|")))
        .filter(word -> !types.contains(word) && !word.equals("TYPE"))
        .distinct()
        .toList();
  }

  /**
   * Returns the help on some words, or all of it for none.
   *
   * @throws io.osier.core.OsierException INVALID_ARGUMENT if there is no help on these words
   */
  static String text(List<String> words) {
    StringBuilder text = new StringBuilder();
    for (Group group : GROUPS) {
      List<Line> lines =
          group.lines.stream().filter(l -> words.stream().allMatch(l::names)).toList();
      if (!lines.isEmpty()) {
        text.append(text.isEmpty() ? "" : "\n\n").append(group.title).append(':');
        lines.forEach(line -> text.append('\n').append(line.text()));
      }
    }
    if (words.isEmpty() || words.equals(List.of("values"))) {
      return text.append(text.isEmpty() ? "" : "\n\n")
          .append(wrapped(TEXT.getLast(), 0))
          .toString();
    }
    if (!text.isEmpty()) {
      return text.toString();
    }
    if (words.size() == 1) {
      Optional<CrdtType> type =
          Arrays.stream(CrdtType.values())
              .filter(t -> t.label().equals(words.getFirst()))
              .findAny();
      if (type.isPresent()) {
        return wrapped(
            type.get().label()
                + ": "
                + String.join(", ", ObjectGrammar.verbs(type.get()))
                + "; for example: "
                + ObjectGrammar.example(type.get()),
            0);
      }
    }
    String word = String.join(" ", words);
    throw Words.bad("there is no help on '" + word + "'" + similar(word));
  }

  /** Returns a suggestion in place of an unknown word. */
  static String similar(String word) {
    Set<String> known = new TreeSet<>(commands());
    Stream.of(CrdtType.values()).map(CrdtType::label).forEach(known::add);
    return ClosestName.near(word, known)
        .map(near -> "; did you mean '" + near + "'?")
        .orElse("; 'help' names all commands");
  }

  /** Wraps a text into lines that begin at a column; the first line is there already. */
  private static String wrapped(String text, int column) {
    StringBuilder lines = new StringBuilder();
    int at = column;
    for (String word : text.split(" ")) {
      if (at > column && at + 1 + word.length() > WIDTH) {
        lines.append('\n').append(" ".repeat(column));
        at = column;
      } else if (at > column) {
        lines.append(' ');
        at++;
      }
      lines.append(word);
      at += word.length();
    }
    return lines.toString();
  }
}
