package io.osier.datacenter.cli.session;

import io.osier.core.OsierException;
import io.osier.crdt.CrdtType;
import io.osier.datacenter.words.ObjectGrammar;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jline.reader.Candidate;
import org.jline.reader.Completer;
import org.jline.reader.LineReader;
import org.jline.reader.ParsedLine;

/** Completes words at the cursor: commands, verbs, types, keys, keyspaces. */
final class CliCompleter implements Completer {
  private static final List<String> BEFORE_A_KEY =
      List.of("get", "exists", "type", "del", "rename", "copy", "scan", "keys", "count");

  private final CliSession session;

  CliCompleter(CliSession session) {
    this.session = session;
  }

  @Override
  public void complete(LineReader reader, ParsedLine line, List<Candidate> candidates) {
    List<String> before = line.words().subList(0, line.wordIndex());
    String begun = line.word().substring(0, line.wordCursor());
    try {
      words(before, begun).stream()
          .filter(w -> w.startsWith(begun))
          .map(Candidate::new)
          .forEach(candidates::add);
    } catch (OsierException e) {
      // No keys can be offered; the command itself will show the error.
    }
  }

  /**
   * Returns the words that can come next.
   *
   * @param before the complete words
   * @param begun the beginning of the next word
   */
  List<String> words(List<String> before, String begun) {
    int place = before.size();
    if (place == 0) {
      return Stream.concat(HelpText.commands().stream(), labels(true)).toList();
    }
    String first = before.getFirst();
    if (BEFORE_A_KEY.contains(first)) {
      return place == 1 || first.equals("del") ? session.keys(begun, Optional.empty()) : List.of();
    }
    if (first.equals("for") || first.equals("eachfor")) {
      return place == 1 ? List.of() : words(before.subList(2, place), begun);
    }
    if (first.equals("ifvalue")) {
      return place == 1 ? List.of() : afterUpdatesName(before.subList(1, place), begun);
    }
    if (first.equals("returning") || first.equals("ifabsent")) {
      return afterUpdatesName(before, begun);
    }
    if (first.equals("use")) {
      return place == 1 ? session.keyspaces() : List.of();
    }
    return ofType(first)
        .map(type -> inObject(type, before.subList(1, place), begun))
        .orElse(List.of());
  }

  private List<String> afterUpdatesName(List<String> before, String begun) {
    int place = before.size();
    return place == 1 ? labels(true).toList() : words(before.subList(1, place), begun);
  }

  private List<String> inObject(CrdtType type, List<String> before, String begun) {
    boolean updatesField =
        type == CrdtType.OR_MAP && !before.isEmpty() && before.getFirst().equals("update");
    return switch (before.size()) {
      case 0 -> ObjectGrammar.verbs(type);
      case 1 -> session.keys(begun, Optional.of(type));
      case 3 -> updatesField ? labels(false).toList() : List.of();
      case 4 ->
          updatesField
              ? ofType(before.getLast()).map(ObjectGrammar::verbs).orElse(List.of())
              : List.of();
      default -> List.of();
    };
  }

  private static Stream<String> labels(boolean whole) {
    return Arrays.stream(CrdtType.values())
        .filter(t -> whole || t.isNestable())
        .map(CrdtType::label);
  }

  private static Optional<CrdtType> ofType(String label) {
    return Arrays.stream(CrdtType.values()).filter(t -> t.label().equals(label)).findFirst();
  }
}
