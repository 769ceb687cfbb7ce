package io.osier.datacenter.copies;

import io.osier.core.Dot;
import io.osier.core.Key;
import io.osier.core.VersionVector;
import io.osier.datacenter.config.CopySettings;
import io.osier.protocol.Reply;
import io.osier.testing.Transcripts;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Golden transcript of a copy's life: what is asked and told, and what answers reads. */
final class CopyTranscriptTest {
  private final CopyWorld world = new CopyWorld();
  private final CopyWorld.Reader ap = world.new Reader("ap", new CopySettings(1 << 20, 100, 100));
  private final StringBuilder lines = new StringBuilder();
  private final Map<Long, Key> names = new HashMap<>();
  private Map<String, Long> dropped = ap.copies.figures().dropped();
  private VersionVector written = VersionVector.EMPTY;

  @Test
  void everythingInACopysLife_isAsItWas() throws IOException {
    ap.asking = this::asked;
    ap.alters =
        answer -> {
          told(answer);
          return answer;
        };
    Transcripts.assertAsItWas(getClass(), "copy", this::run);
  }

  private void line(String text) {
    lines.append("%6d  %s%n".formatted(world.millis(), text));
  }

  private void asked(FollowCodec.Ask ask) {
    ask.add().forEach(added -> names.put(added.number(), added.key()));
    String added = ask.add().stream().map(each -> " + " + each.key()).collect(Collectors.joining());
    String removed =
        ask.remove().stream().map(each -> " - " + names.get(each)).collect(Collectors.joining());
    line("ap>eu ask " + ask.step() + added + removed + ", waits " + ask.waitMillis());
  }

  private void told(FollowCodec.Answer answer) {
    String objects =
        answer.objects().stream()
            .map(told -> " " + names.get(told.number()) + (told.states().isPresent() ? "" : " no"))
            .collect(Collectors.joining());
    String through = answer.through().map(all -> " through " + all).orElse("");
    line("eu>ap told " + answer.step() + objects + through);
  }

  private String run(String command) {
    String[] words = command.split(" ");
    switch (words[0]) {
      case "write" -> {
        Dot dot = world.increment(words[1]);
        written = VersionVector.of(dot.replica(), dot.number());
      }
      case "write-here" -> ap.incremented(words[1]);
      case "read" -> read(words[1], VersionVector.EMPTY);
      case "read-behind" -> read(words[1], written);
      case "cut" -> ap.cut();
      case "link" -> ap.cut = false;
      case "pass" -> world.pass(Long.parseLong(words[1]));
      default -> throw new IllegalArgumentException(command);
    }
    Map<String, Long> now = ap.copies.figures().dropped();
    now.forEach(
        (why, count) -> {
          if (!count.equals(dropped.get(why))) {
            line("ap drops it: " + why);
          }
        });
    dropped = now;
    String all = lines.toString();
    lines.setLength(0);
    return all;
  }

  private void read(String key, VersionVector after) {
    Reply copied = ap.copied(key, after);
    line(
        copied != null
            ? "the copy answers " + CopyWorld.count(copied)
            : "eu answers " + CopyWorld.count(ap.forwarded(key, after)));
  }
}
