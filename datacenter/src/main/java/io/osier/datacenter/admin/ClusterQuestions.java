package io.osier.datacenter.admin;

import io.osier.core.ErrorCode;
import io.osier.core.OsierException;
import io.osier.core.codec.MalformedException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks all datacenters one question, so that who reaches one of them hears of all. Questions and
 * answers are notes over the links between the datacenters. Who has not answered after {@value
 * #AROUND_MILLIS} ms, since a link is cut, is asked by way of each third one; what is not there
 * after {@value #WAIT_MILLIS} ms does not come. A question is answered the way it came.
 *
 * <p>Members of a cluster trust each other: one that hands on an answer could have made it up.
 *
 * <p>Bounded: {@value #ASKED_MAX} questions at once are put here, and of those that another
 * datacenter sends or hands on {@value #ANSWERED_MAX} are worked on; an answer has {@value
 * QuestionNote#TEXT_BYTES_MAX} bytes at most. Thread-safe; runs others' code with no lock held.
 */
public final class ClusterQuestions {
  static final int ASKED_MAX = 16;
  static final int ANSWERED_MAX = 4;
  static final long AROUND_MILLIS = 400;
  static final long WAIT_MILLIS = 1_500;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterQuestions.class);

  /** Has something done later. */
  interface Later {
    void run(long millis, Runnable task);
  }

  private final String self;
  private final Supplier<Set<String>> peers;
  private final Function<String, CompletableFuture<String>> answers;
  private final BiConsumer<String, byte[]> notes;
  private final Later later;

  /** What answers is not held up, nor who brings an answer. */
  private final Executor executor;

  private final Map<Long, Asked> asked = new ConcurrentHashMap<>();

  /** By who sent them, how many questions are worked on. */
  private final Map<String, Integer> answering = new ConcurrentHashMap<>();

  private final AtomicLong numbers = new AtomicLong();

  /** A question that waits for answers. */
  private static final class Asked {
    final Set<String> all;
    final Map<String, String> answers = new ConcurrentSkipListMap<>();
    final CompletableFuture<Map<String, String>> done = new CompletableFuture<>();

    Asked(Set<String> all) {
      this.all = all;
    }
  }

  /**
   * @param peers the others' names, as they are now
   * @param answers answers a question, its own ones, too; called by any thread
   * @param notes sends a note to a datacenter, if it can
   */
  public ClusterQuestions(
      String self,
      Supplier<Set<String>> peers,
      Function<String, CompletableFuture<String>> answers,
      BiConsumer<String, byte[]> notes) {
    this(
        self,
        peers,
        answers,
        notes,
        (millis, task) ->
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(task),
        ForkJoinPool.commonPool());
  }

  ClusterQuestions(
      String self,
      Supplier<Set<String>> peers,
      Function<String, CompletableFuture<String>> answers,
      BiConsumer<String, byte[]> notes,
      Later later,
      Executor executor) {
    this.self = self;
    this.peers = peers;
    this.answers = answers;
    this.notes = notes;
    this.later = later;
    this.executor = executor;
  }

  /**
   * Asks all, this one included.
   *
   * @return by datacenter, what it answers; who could not be asked is not there. Fails with
   *     OVERLOADED if too many questions wait, and with what this datacenter's own answer fails
   */
  public CompletableFuture<Map<String, String>> ask(String question) {
    Set<String> others = Set.copyOf(peers.get());
    if (asked.size() >= ASKED_MAX) {
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.OVERLOADED,
              ASKED_MAX + " questions to all datacenters wait already; ask again in 2 s"));
    }
    CompletableFuture<String> here = answers.apply(question);
    long number = numbers.incrementAndGet();
    Asked mine = new Asked(others);
    asked.put(number, mine);
    mine.done.whenComplete((all, error) -> asked.remove(number));
    others.forEach(
        dc -> notes.accept(dc, new QuestionNote(false, number, self, dc, question).encode()));
    later.run(AROUND_MILLIS, () -> askAround(number, question));
    later.run(WAIT_MILLIS, () -> mine.done.complete(mine.answers));
    if (others.isEmpty()) {
      mine.done.complete(mine.answers);
    }
    return here.thenCombineAsync(
            mine.done,
            (own, heard) -> {
              Map<String, String> all = new TreeMap<>(heard);
              all.put(self, own);
              return all;
            },
            executor)
        .whenComplete((all, error) -> mine.done.complete(Map.of()));
  }

  private void askAround(long number, String question) {
    Asked mine = asked.get(number);
    if (mine == null) {
      return;
    }
    for (String dc : mine.all) {
      if (!mine.answers.containsKey(dc)) {
        byte[] note = new QuestionNote(false, number, self, dc, question).encode();
        mine.all.stream().filter(third -> !third.equals(dc)).forEach(t -> notes.accept(t, note));
      }
    }
  }

  /** Whether a note is a question or an answer. */
  public static boolean isNote(byte[] note) {
    return QuestionNote.isOne(note);
  }

  /** A question or an answer has come. */
  public void noted(String sender, byte[] content) {
    QuestionNote note;
    try {
      note = QuestionNote.decode(content);
    } catch (MalformedException e) {
      LOG.debug("{} sends a note that cannot be read", sender, e);
      return;
    }
    if (!note.to().equals(self)) {
      if (note.from().equals(sender) && peers.get().contains(note.to())) { // one hop, no circles
        notes.accept(note.to(), content);
      }
    } else if (note.isAnswer()) {
      heard(note);
    } else {
      answer(sender, note);
    }
  }

  private void heard(QuestionNote answer) {
    Asked mine = asked.get(answer.number());
    if (mine != null && mine.all.contains(answer.other())) {
      mine.answers.put(answer.other(), answer.text());
      if (mine.answers.size() == mine.all.size()) {
        mine.done.complete(mine.answers);
      }
    }
  }

  private void answer(String sender, QuestionNote question) {
    if (answering.merge(sender, 1, Integer::sum) > ANSWERED_MAX) {
      answered(sender);
      return; // it is asked again, or does without
    }
    CompletableFuture<String> made;
    try {
      made = answers.apply(question.text());
    } catch (RuntimeException e) {
      made = CompletableFuture.failedFuture(e);
    }
    made.whenCompleteAsync(
        (text, error) -> {
          answered(sender);
          if (error != null) {
            LOG.debug("no answer to {}", question, error);
          } else if (text.getBytes(StandardCharsets.UTF_8).length <= QuestionNote.TEXT_BYTES_MAX) {
            notes.accept(sender, question.answered(text).encode());
          }
        },
        executor);
  }

  private void answered(String sender) {
    answering.computeIfPresent(sender, (dc, working) -> working == 1 ? null : working - 1);
  }
}
