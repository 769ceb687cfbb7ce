package io.osier.proxy.call;

import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Found;
import java.util.List;

/** Converts callers' arguments into requests, and replies into callers' results. */
public final class Conversion {
  private Conversion() {}

  public static Request.Fetch sent(Keyspace.Get read) {
    return new Request.Fetch(read.key(), read.type(), read.query());
  }

  public static Request.Update sent(Keyspace.Change change) {
    return new Request.Update(change.key(), change.type(), change.operation());
  }

  /** Returns what a reply says that a key holds. */
  public static Found found(Reply.Answer answer) {
    return new Found(answer.type(), answer.reading(), answer.exists(), answer.age());
  }

  /** Returns what a transaction's reply says that several keys hold. */
  public static List<Found> found(Reply.Transacted step) {
    return step.answers().stream().map(Conversion::found).toList();
  }

  static Keyspace.Page page(Reply.Page page) {
    return new Keyspace.Page(
        page.rows().stream().map(r -> new Keyspace.Row(r.key(), r.type(), r.reading())).toList(),
        page.next());
  }
}
