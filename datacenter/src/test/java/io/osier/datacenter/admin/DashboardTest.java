package io.osier.datacenter.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.osier.testing.Patience;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who looks gets a message a second; who does not costs nothing. */
final class DashboardTest {
  private final AtomicInteger made = new AtomicInteger();
  private final BlockingQueue<Map.Entry<String, StatusBoard.Note>> notes =
      new LinkedBlockingQueue<>();
  private volatile boolean hangs;
  private final Dashboard dashboard =
      new Dashboard(
          "eu",
          List.of("us", "ap"),
          () -> Map.of("ap", "ap.example:7400"),
          () ->
              hangs
                  ? new CompletableFuture<>()
                  : CompletableFuture.completedFuture("{\"made\":" + made.incrementAndGet() + "}"),
          (dc, note) -> notes.add(Map.entry(dc, StatusBoard.decode(note))),
          100);

  @AfterEach
  void close() {
    dashboard.close();
  }

  /** Sees what it is sent; reads nothing while it is slow. */
  private static final class Person implements Dashboard.Viewer {
    final BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    final CompletableFuture<Void> closed = new CompletableFuture<>();
    final AtomicInteger missed = new AtomicInteger();
    volatile boolean slow;

    @Override
    public boolean send(byte[] piece) {
      if (slow) {
        missed.incrementAndGet();
        return false;
      }
      seen.add(new String(piece, StandardCharsets.UTF_8));
      return true;
    }

    @Override
    public void close() {
      closed.complete(null);
    }

    @Override
    public void whenClosed(Runnable then) {
      closed.thenRun(then);
    }

    String next() throws InterruptedException {
      String message = seen.poll(Patience.SECONDS, TimeUnit.SECONDS);
      assertThat(message).as("a message in time").isNotNull();
      return message;
    }
  }

  @Test
  void nothingIsMade_whereNobodyLooks_orNoLonger() throws InterruptedException {
    assertThat(made).hasValue(0);
    Person person = new Person();
    dashboard.join(person);
    assertThat(person.next()).startsWith("retry: ");
    assertThat(person.next()).startsWith("data: {\"self\":\"eu\"").endsWith("}\n\n");
    while (!person.next().contains("{\\\"made\\\":2}")) {
      // One that was just made is shown again.
    }
    assertThat(dashboard.viewers()).isEqualTo(1);
    person.close();
    assertThat(dashboard.viewers()).isZero();
    // The ticking ends with the last viewer, and begins again with the next.
    Person second = new Person();
    dashboard.join(second);
    second.next();
    assertThat(second.next()).contains("\"number\":");
    second.close();
  }

  /** Who is silent cannot say where it is reached: what it said before is in each message. */
  @Test
  void whereTheOthersAreReached_isInEachMessage() throws InterruptedException {
    Person person = new Person();
    dashboard.join(person);
    person.next();
    assertThat(person.next()).contains("\"clients\":{\"ap\":\"ap.example:7400\"}");
  }

  @Test
  void viewersOverTheLimit_areClosed_untilOthersLeave() {
    List<Person> people = new ArrayList<>();
    for (int i = 0; i < Dashboard.VIEWERS_MAX; i++) {
      people.add(new Person());
      dashboard.join(people.getLast());
    }
    assertThat(dashboard.isFull()).isTrue();
    Person tooMany = new Person();
    dashboard.join(tooMany);
    assertThat(tooMany.closed).isDone();
    assertThat(people).noneMatch(p -> p.closed.isDone());
    people.forEach(Person::close);
    assertThat(dashboard.isFull()).isFalse();
    assertThat(dashboard.viewers()).isZero();
  }

  @Test
  void whoDoesNotRead_isDropped_andOthersAreNot() throws InterruptedException {
    Person slow = new Person();
    Person quick = new Person();
    dashboard.join(slow);
    dashboard.join(quick);
    slow.slow = true;
    await().until(slow.closed::isDone);
    assertThat(slow.missed).hasValue(Dashboard.MISSES_MAX);
    assertThat(quick.closed).isNotDone();
    assertThat(dashboard.viewers()).isEqualTo(1);
  }

  @Test
  void aDatacenterThatHangs_isShownWithoutStatus_andComesBack() throws InterruptedException {
    hangs = true;
    Person person = new Person();
    dashboard.join(person);
    person.next();
    assertThat(person.next()).contains("\"statuses\":[]");
    hangs = false;
    await().until(() -> person.seen.stream().anyMatch(m -> m.contains("made")));
  }

  @Test
  void peersAreAsked_whileSomebodyLooks_andShown() throws InterruptedException {
    dashboard.noted("us", StatusBoard.encode(new StatusBoard.Tell("us", 0, "</script>\n")));
    dashboard.noted("us", new byte[] {9});
    Person person = new Person();
    dashboard.join(person);
    person.next();
    assertThat(person.next())
        .contains("\"dc\":\"us\"")
        .contains("</script>\\u000a") // in one line, so it ends no event
        .endsWith("\n\n");
    Map.Entry<String, StatusBoard.Note> asked = notes.poll(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(asked.getKey()).isEqualTo("ap");
    assertThat(asked.getValue()).isEqualTo(new StatusBoard.Ask(Set.of("ap")));
  }

  @Test
  void whoIsAsked_tellsItsOwnStatus_andWhatItKnowsOfThoseMissed() throws InterruptedException {
    dashboard.noted("us", StatusBoard.encode(new StatusBoard.Tell("us", 0, "{}")));
    dashboard.noted("ap", StatusBoard.encode(new StatusBoard.Ask(Set.of("us"))));
    assertThat(notes.poll(Patience.SECONDS, TimeUnit.SECONDS))
        .isEqualTo(Map.entry("us", new StatusBoard.Ask(Set.of())));
    assertThat(notes.poll(Patience.SECONDS, TimeUnit.SECONDS))
        .isEqualTo(Map.entry("ap", new StatusBoard.Tell("eu", 0, "{\"made\":1}")));
    Map.Entry<String, StatusBoard.Note> further = notes.poll(Patience.SECONDS, TimeUnit.SECONDS);
    assertThat(further.getKey()).isEqualTo("ap");
    assertThat(further.getValue()).isInstanceOf(StatusBoard.Tell.class);
    dashboard.noted("ap", StatusBoard.encode(new StatusBoard.Ask(Set.of())));
    assertThat(made).as("asked again at once, it makes nothing").hasValue(1);
  }
}
