package io.osier.propagation;

import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The texts of frames in transcripts. */
final class FrameTexts {
  private FrameTexts() {}

  static String text(Frame frame) {
    return switch (frame) {
      case Frame.Updates f ->
          f.kind()
              + " "
              + f.epoch()
              + "."
              + f.sequence()
              + " through "
              + f.through()
              + (f.deps().isEmpty() ? "" : " on " + text(f.deps()))
              + text(f.shipments());
      case Frame.Ack f -> "ack " + f.epoch() + "." + f.sequence();
      case Frame.Resume f ->
          "resume in epoch "
              + f.epoch()
              + " from "
              + (f.cursor().isEmpty() ? "nothing" : f.through());
      case Frame.Status f ->
          "status has " + text(f.through()) + (f.wantResume() ? ", wants a resume" : "");
      case Frame.Heal f -> "heal " + f.origin().dc() + " after " + f.after() + besides(f);
      case Frame.States f ->
          "states of "
              + f.origin().map(ReplicaId::dc).orElse("what was asked")
              + (f.next().isPresent() ? ", more" : ", all through " + f.through())
              + text(f.shipments());
      case Frame.StatesAndOffer f -> text(f.states()) + ", offers " + f.offer().object().key();
      case Frame.Withdrawn f -> "withdrawn";
      case Frame.Fetch f -> "fetch " + f.objects().stream().map(o -> o.key().toString()).toList();
      case Frame.Verify f -> "verify";
      case Frame.Verified f -> "verified";
      case Frame.Rights f -> "rights";
      case Frame.Offer f -> "offer " + f.object().key();
      case Frame.Pull f -> f.done() ? "pulled" : "pull " + f.ranges();
      case Frame.Ranges f -> f.ranges().size() + " ranges";
      case Frame.Entries f -> "entries of " + f.ranges();
    };
  }

  private static String besides(Frame.Heal heal) {
    return heal.besides().isEmpty() ? "" : " besides " + heal.besides();
  }

  private static String text(VersionVector vector) {
    List<String> entries = new ArrayList<>();
    for (int i = 0; i < vector.size(); i++) {
      entries.add(vector.replica(i).dc() + ":" + vector.number(i));
    }
    return entries.isEmpty() ? "nothing" : String.join(" ", entries);
  }

  /** Returns for each shipment its object, the updates that it builds on, and its last update. */
  private static String text(List<Shipment> shipments) {
    return shipments.stream()
        .map(
            s ->
                s.object().key()
                    + (s.content().isFull()
                        ? " whole " + s.last()
                        : " " + s.predecessor() + ".." + s.last())
                    + (s.needs().isEmpty() ? "" : " needs " + text(s.needs())))
        .map(s -> " [" + s + "]")
        .collect(Collectors.joining());
  }

  /** Returns for how many ranges entries were sent on a link named "from>to". */
  static long ranges(String told, String link) {
    return Pattern.compile(link + "  entries of \\[([^\\]]*)]")
        .matcher(told)
        .results()
        .mapToLong(entries -> entries.group(1).split(",").length)
        .sum();
  }
}
