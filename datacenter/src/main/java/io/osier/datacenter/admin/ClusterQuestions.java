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
 * Asks all datacenters one question, so that a client that reaches one of them gets the answers of
 * all. Questions and answers travel as notes over the peer links. A datacenter that has not
 * answered after {@value #AROUND_MILLIS} ms, perhaps because a link is cut, is asked again through
 * every other one; answers that take longer than {@value #WAIT_MILLIS} ms are left out. An answer
 * takes the way that its question took.
 *
 * <p>Members of a cluster trust each other: a member that forwards an answer could have forged it.
 *
 * <p>Bounded: at most {@value #ASKED_MAX} questions are asked here at once, at most {@value
 * #ANSWERED_MAX} questions that one datacenter sends or forwards are answered at once, and an
 * answer has at most {@value QuestionNote#TEXT_BYTES_MAX} bytes. Thread-safe; runs others' code
 * with no lock held.
 */
public final class ClusterQuestions {
  static final int ASKED_MAX = 16;
  static final int ANSWERED_MAX = 4;
  static final long AROUND_MILLIS = 400;
  static final long WAIT_MILLIS = 1_500;

  private static final Logger LOG = LoggerFactory.getLogger(ClusterQuestions.class);

  /** Runs tasks later. */
  interface Later {
    void run(long millis, Runnable task);
  }

  private final String self;
  private final Supplier<Set<String>> peers;
  private final Function<String, CompletableFuture<String>> answers;
  private final BiConsumer<String, byte[]> notes;
  private final Later later;

  /** Runs continuations, so that neither the answering code nor the link's thread is blocked. */
  private final Executor executor;

  private final Map<Long, Asked> asked = new ConcurrentHashMap<>();

  /** How many questions are being answered, by the datacenter that sent them. */
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
   * Makes it.
   *
   * @param peers returns the present names of the other datacenters
   * @param answers answers a question, this datacenter's own ones, too; called by any thread
   * @param notes sends a note to a datacenter if it is connected
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
   * Asks all datacenters, this one included.
   *
   * @return completes with the answers by datacenter, without those that did not come. Fails with
   *     OVERLOADED if too many questions wait, and with the error of this datacenter's own answer
   *     if that fails
   */
  public CompletableFuture<Map<String, String>> ask(String question) {
    Set<String> others = Set.copyOf(peers.get());
    if (asked.size() >= ASKED_MAX) {
      return CompletableFuture.failedFuture(
          new OsierException(
              ErrorCode.OVERLOADED,
              ASKED_MAX + " such questions are being answered already; ask again in 2 s"));
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

  /** Returns whether a note is a question or an answer. */
  public static boolean isNote(byte[] note) {
    return QuestionNote.isOne(note);
  }

  /** Handles a question or an answer, for this datacenter or to be forwarded. */
  public void noted(String sender, byte[] content) {
    QuestionNote note;
    try {
      note = QuestionNote.decode(content);
    } catch (MalformedException e) {
      LOG.debug("{} sent a note that cannot be decoded", sender, e);
      return;
    }
    if (!note.to().equals(self)) {
      if (note.from().equals(sender) && peers.get().contains(note.to())) { // one hop, so no cycles
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
      return; // the asker tries another way, or goes without
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
