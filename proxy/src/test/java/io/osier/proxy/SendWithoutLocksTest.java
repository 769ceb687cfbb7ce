package io.osier.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.core.Dot;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.testing.Patience;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.NullUnmarked;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * An embedded datacenter answers other callers' requests in the thread that sends one, and their
 * callbacks run there. So no lock may be held over a send.
 */
@NullUnmarked // what is null fails the test
final class SendWithoutLocksTest {
  private final FakeInProcess eu = new FakeInProcess();
  private final OsierClient client = OsierClient.inProcess(eu);

  @AfterEach
  void close() {
    client.close();
  }

  private static Reply answer(Request request) {
    return request instanceof Request.Transact
        ? new Reply.Transacted(VersionVector.EMPTY, Optional.empty(), List.of())
        : new Reply.Done(new Dot(FakeInProcess.EU, 1));
  }

  @Test
  void twoSessionsThatAnswerEachOther_goOn() throws InterruptedException {
    RegisterHandle a = client.session().keyspace("shop").register("r");
    RegisterHandle b = client.session().keyspace("shop").register("r");
    Map<String, Runnable> answers = new ConcurrentHashMap<>();
    eu.handler = (request, reply) -> answers.put("two", () -> reply.accept(answer(request)));
    CompletableFuture<Void> ofA = a.assignAsync(Value.of(1));
    eu.handler = (request, reply) -> answers.put("one", () -> reply.accept(answer(request)));
    CompletableFuture<Void> ofB = b.assignAsync(Value.of(1));
    CyclicBarrier bothSend = new CyclicBarrier(2);
    eu.handler =
        (request, reply) -> {
          try {
            bothSend.await(Patience.SECONDS, TimeUnit.SECONDS);
          } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException(e);
          }
          answers.get(Thread.currentThread().getName()).run();
          reply.accept(answer(request));
        };
    Thread one = Thread.ofPlatform().daemon(true).name("one").start(() -> a.assign(2));
    Thread two = Thread.ofPlatform().daemon(true).name("two").start(() -> b.assign(2));
    assertThat(one.join(Patience.LIMIT)).as("the caller of one session is back").isTrue();
    assertThat(two.join(Patience.LIMIT)).as("the caller of the other is back").isTrue();
    assertThat(List.of(ofA, ofB)).allSatisfy(f -> assertThat(f).isCompleted());
  }

  /** While something is sent another thread can do this. */
  private AtomicBoolean canBeDoneWhileSending(Runnable use) {
    AtomicBoolean could = new AtomicBoolean(true);
    eu.handler =
        (request, reply) -> {
          Thread other = Thread.ofPlatform().daemon(true).start(use);
          try {
            could.compareAndSet(true, other.join(Patience.LIMIT));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          reply.accept(answer(request));
        };
    return could;
  }

  @Test
  void sessionCanBeUsed_whileItSends() {
    Session session = client.session();
    AtomicBoolean could = canBeDoneWhileSending(() -> session.keyspace("shop").clock());
    session.keyspace("shop").register("r").assign(1);
    assertThat(could).isTrue();
  }

  @Test
  void transactionCanBeUsed_whileItSends() {
    eu.handler = (request, reply) -> reply.accept(answer(request));
    Transaction tx = client.session().keyspace("shop").begin();
    AtomicBoolean could =
        canBeDoneWhileSending(
            () -> {
              // The one that comes with the commit is refused.
              var unused = tx.register("r").assignAsync(Value.of(1));
            });
    tx.readTogether(List.of());
    tx.commit();
    assertThat(could).isTrue();
  }
}
