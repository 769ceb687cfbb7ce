package io.osier.datacenter.redis.command.data;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.osier.core.Key;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.redis.RespValue;
import io.osier.datacenter.redis.command.Plan;
import io.osier.datacenter.redis.command.RedisCommand;
import io.osier.datacenter.redis.command.RedisException;
import io.osier.datacenter.redis.transaction.Queued;
import io.osier.datacenter.redis.transaction.Transaction;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/** A connection to a {@link RedisNode} that knows transactions. */
final class RedisQueue {
  private final RedisNode node;
  private final Transaction transaction;

  RedisQueue(RedisNode node) {
    this(node, ByteBudget.UNLIMITED);
  }

  RedisQueue(RedisNode node, ByteBudget budget) {
    this(node, budget, ByteBudget.UNLIMITED);
  }

  RedisQueue(RedisNode node, ByteBudget budget, ByteBudget answers) {
    this.node = node;
    this.transaction = new Transaction(() -> budget, answers, keyspace -> "one");
  }

  Transaction transaction() {
    return transaction;
  }

  /** The answer to words between blanks, as {@link Texted} writes it. */
  String text(String call) {
    return Texted.text(answer(List.of(call.split(" "))));
  }

  RespValue answer(List<String> words) {
    return node.follow(() -> plan(words));
  }

  private Plan plan(List<String> words) {
    return switch (words.getFirst()) {
      case "MULTI" -> new Plan.Answer(transaction.begin());
      case "EXEC" -> transaction.exec(node::scope, UnaryOperator.identity());
      case "DISCARD" -> new Plan.Answer(transaction.discard());
      case "UNWATCH" -> new Plan.Answer(transaction.unwatch());
      case "WATCH" -> transaction.watch(node.scope(), words.stream().skip(1).map(Key::of).toList());
      default ->
          transaction.isOpen()
              ? new Plan.Answer(queue(words))
              : new Plan.Answer(node.answer(words.toArray(new String[0])));
    };
  }

  private RespValue queue(List<String> words) {
    RedisCommand command = RedisNode.command(words.getFirst());
    byte[][] bytes =
        Stream.of(words.toArray(new String[0]))
            .map(word -> word.getBytes(ISO_8859_1))
            .toArray(byte[][]::new);
    try {
      return transaction.queue(node.scope(), new Queued(command, bytes, null));
    } catch (RedisException e) {
      transaction.spoil();
      throw e;
    }
  }

  /** All answers of an EXEC. */
  static List<RespValue> all(RespValue answer) {
    return answer instanceof RespValue.Array array ? array.values() : List.of(answer);
  }
}
