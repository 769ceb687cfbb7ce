package io.osier.datacenter.admin;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Questions to all datacenters over links of which some are cut; time is stepped. */
class ClusterQuestionsTest {
  private static final List<String> NAMES = List.of("ap", "eu", "us");

  private final Map<String, ClusterQuestions> all = new TreeMap<>();
  private final Set<String> cut = new TreeSet<>();

  private final Map<String, CompletableFuture<String>> held = new TreeMap<>();
  private final ConcurrentLinkedQueue<String> notes = new ConcurrentLinkedQueue<>();
  private final List<Runnable> around = new ArrayList<>();
  private final List<Runnable> ends = new ArrayList<>();

  ClusterQuestionsTest() {
    for (String name : NAMES) {
      Set<String> others = new TreeSet<>(NAMES);
      others.remove(name);
      BiConsumer<String, byte[]> links =
          (dc, note) -> {
            String way = name + ">" + dc;
            notes.add(way);
            if (!cut.contains(way)) {
              requireNonNull(all.get(dc)).noted(name, note);
            }
          };
      all.put(
          name,
          new ClusterQuestions(
              name,
              () -> others,
              question ->
                  held.getOrDefault(
                      name, CompletableFuture.completedFuture(name + " hears " + question)),
              links,
              (millis, task) ->
                  (millis == ClusterQuestions.AROUND_MILLIS ? around : ends).add(task),
              Runnable::run));
    }
  }

  private CompletableFuture<Map<String, String>> ask(String question) {
    return requireNonNull(all.get("eu")).ask(question);
  }

  private static Map<String, String> answers(CompletableFuture<Map<String, String>> asked)
      throws Exception {
    return asked.get(1, TimeUnit.MINUTES); // only a hang takes so long
  }

  @Test
  void everybodyInReach_answersAtOnce() throws Exception {
    assertThat(answers(ask("why")))
        .containsExactly(
            Map.entry("ap", "ap hears why"),
            Map.entry("eu", "eu hears why"),
            Map.entry("us", "us hears why"));
    around.forEach(Runnable::run);
    assertThat(notes).as("who has answered is not asked again").hasSize(4);
  }

  @Test
  void whoIsBehindACutLink_answersByWayOfAThirdOne() throws Exception {
    cut.addAll(Set.of("eu>ap", "ap>eu"));
    CompletableFuture<Map<String, String>> asked = ask("why");
    around.forEach(Runnable::run);
    ends.forEach(Runnable::run);
    assertThat(answers(asked)).containsEntry("ap", "ap hears why").hasSize(3);
  }

  /** The one who is asked hears the question, and does not know that its answer is lost. */
  @Test
  void whoseAnswersAreLost_answersByWayOfAThirdOne() throws Exception {
    cut.add("ap>eu");
    CompletableFuture<Map<String, String>> asked = ask("why");
    around.forEach(Runnable::run);
    assertThat(answers(asked)).containsEntry("ap", "ap hears why").hasSize(3);
  }

  @Test
  void oneDatacentersQuestions_keepNobodyElseFromAnAnswer() throws Exception {
    CompletableFuture<String> slow = new CompletableFuture<>();
    held.put("us", slow);
    for (int i = 0; i < ClusterQuestions.ASKED_MAX; i++) {
      ask("why");
    }
    CompletableFuture<Map<String, String>> other = requireNonNull(all.get("ap")).ask("why");
    slow.complete("at last");
    assertThat(answers(other)).containsEntry("us", "at last");
  }

  @Test
  void whoCannotBeReached_isLeftOut_whenTheTimeIsOver() throws Exception {
    cut.addAll(Set.of("eu>ap", "ap>eu"));
    cut.addAll(Set.of("us>ap", "ap>us"));
    CompletableFuture<Map<String, String>> asked = ask("why");
    around.forEach(Runnable::run);
    assertThat(asked).isNotDone();
    ends.forEach(Runnable::run);
    assertThat(answers(asked)).containsOnlyKeys("eu", "us");
  }

  @Test
  void questions_areBoundedInNumber_andTheirPlacesComeBack() throws Exception {
    cut.addAll(Set.of("eu>ap", "eu>us"));
    List<CompletableFuture<Map<String, String>>> asked = new ArrayList<>();
    for (int i = 0; i < ClusterQuestions.ASKED_MAX; i++) {
      asked.add(ask("why"));
    }
    assertThatThrownBy(() -> answers(ask("once more")))
        .hasRootCauseInstanceOf(OsierException.class)
        .hasMessageContaining("ask again in 2 s");
    ends.forEach(Runnable::run);
    for (CompletableFuture<Map<String, String>> one : asked) {
      assertThat(answers(one)).containsOnlyKeys("eu");
    }
    cut.clear();
    assertThat(answers(ask("again"))).hasSize(3);
  }

  @Test
  void othersQuestions_areWorkedOnInABoundedNumber() throws Exception {
    CompletableFuture<String> slow = new CompletableFuture<>();
    held.put("us", slow);
    List<CompletableFuture<Map<String, String>>> asked = new ArrayList<>();
    for (int i = 0; i <= ClusterQuestions.ANSWERED_MAX; i++) {
      asked.add(ask("why"));
    }
    slow.complete("at last");
    for (CompletableFuture<Map<String, String>> one : asked.subList(0, asked.size() - 1)) {
      assertThat(answers(one)).containsEntry("us", "at last");
    }
    ends.forEach(Runnable::run);
    assertThat(answers(asked.getLast())).doesNotContainKey("us");
  }

  @Test
  void ownAnswerThatFails_failsTheQuestion() {
    held.put("eu", CompletableFuture.failedFuture(new IllegalStateException("no such keyspace")));
    assertThatThrownBy(() -> answers(ask("why"))).hasMessageContaining("no such keyspace");
  }

  @Test
  void note_isReadAsItWasWritten_andNothingElseIsOne() {
    QuestionNote note = new QuestionNote(true, 7, "eu", "us", "{\"a\":\"→\"}");
    assertThat(QuestionNote.decode(note.encode())).isEqualTo(note);
    assertThat(ClusterQuestions.isNote(note.encode())).isTrue();
    assertThat(ClusterQuestions.isNote(StatusBoard.encode(new StatusBoard.Ask(Set.of()))))
        .isFalse();
    assertThatThrownBy(() -> QuestionNote.decode(new byte[] {6, 1}))
        .isInstanceOf(MalformedException.class);
  }
}
