package io.osier.datacenter.access;

import io.osier.core.Grant;
import io.osier.core.Grant.Right;
import io.osier.core.Key;
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Call;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Decides which rights requests need. Pure. */
public final class RequestRights {
  private RequestRights() {}

  /**
   * Returns a right that the request needs and the user lacks; null if there is none. Goes through
   * the user's grants for each key.
   */
  public static @Nullable Grant missing(User user, Request request) {
    return switch (request) {
      case Request.Read r -> missing(user, Right.READ, r.keyspace(), r.key());
      case Request.Write r -> {
        Grant missing = missing(user, Right.WRITE, r.keyspace(), r.key());
        boolean tells = r.ask().isPresent() || r.condition().isPresent();
        yield missing == null && tells ? missing(user, Right.READ, r.keyspace(), r.key()) : missing;
      }
      case Request.ReadAll r -> ofAll(user, r, r.reads().size(), r.keyspace());
      case Request.WriteAll r -> ofAll(user, r, r.updates().size(), r.keyspace());
      case ScanRequest r -> {
        User.Reach reach = user.readable(r.keyspace(), r.from());
        boolean ends = r.to().isEmpty() && r.want() == ScanRequest.Want.ROWS;
        if (reach.any() && (ends || reach.contains(r.to()))) {
          yield null;
        }
        Optional<Key> missing = reach.any() ? reach.end() : r.from();
        yield new Grant(Right.READ, Optional.of(r.keyspace()), missing);
      }
      case WatchRequest r -> {
        if (!r.prefix()) {
          yield missing(user, Right.READ, r.keyspace(), r.key().orElseThrow());
        }
        User.Reach reach = user.readable(r.keyspace(), r.key());
        Optional<Key> end = r.key().flatMap(Key::afterPrefix);
        yield reach.any() && reach.contains(end)
            ? null
            : new Grant(Right.READ, Optional.of(r.keyspace()), reach.any() ? reach.end() : r.key());
      }
      case Request.Evaluate r -> ofProgram(user, r);
      case Request.Transact r -> ofStep(user, r);
      case Request.Repeat r -> ofStep(user, r.step());
      case ProgressRequest r -> anything(user, r.keyspace());
      case AdminRequest.Inspect r -> {
        Grant admin = new Grant(Right.ADMIN, r.keyspace(), Optional.empty());
        yield user.may(admin) ? null : admin;
      }
      case AdminRequest.Backup r -> {
        Grant admin = Grant.onAll(Right.ADMIN);
        yield user.may(admin) ? null : admin;
      }
      case AdminRequest.Administer r -> {
        boolean one = r.subject().equals("keyspace") && r.action().equals("alter");
        Optional<String> keyspace =
            r.asksWhy()
                ? Optional.ofNullable(r.settings().get("keyspace"))
                : one ? Optional.of(r.name()) : Optional.empty();
        Grant admin = new Grant(Right.ADMIN, keyspace, Optional.empty());
        yield user.may(admin) ? null : admin;
      }
      case Request.Keyspaces r -> null;
      case Greeting r -> null;
      case Request.Ping r -> null;
    };
  }

  private static @Nullable Grant missing(User user, Right right, String keyspace, Key key) {
    return user.may(right, keyspace, key) ? null : Grant.on(right, keyspace, key);
  }

  private static @Nullable Grant anything(User user, String keyspace) {
    return user.mayAnything(keyspace) ? null : Grant.on(Right.READ, keyspace);
  }

  /** Returns a missing right if no part of a batch may be done; null if some part may. */
  private static @Nullable Grant ofAll(User user, Request batch, int parts, String keyspace) {
    SortedMap<Integer, Grant> missing = missingOfParts(user, batch);
    if (missing.isEmpty()) {
      return anything(user, keyspace);
    }
    return missing.size() < parts ? null : missing.get(missing.firstKey());
  }

  /**
   * Returns the rights that a batch's parts need and the user lacks, by the part's number; empty
   * for other requests.
   */
  public static SortedMap<Integer, Grant> missingOfParts(User user, Request batch) {
    SortedMap<Integer, Grant> all = new TreeMap<>();
    switch (batch) {
      case Request.ReadAll r -> {
        for (int i = 0; i < r.reads().size(); i++) {
          note(all, i, missing(user, Right.READ, r.keyspace(), r.reads().get(i).key()));
        }
      }
      case Request.WriteAll r -> {
        for (int i = 0; i < r.updates().size(); i++) {
          note(all, i, missing(user, Right.WRITE, r.keyspace(), r.updates().get(i).key()));
        }
      }
      default -> {}
    }
    return all;
  }

  private static void note(SortedMap<Integer, Grant> all, int part, @Nullable Grant missing) {
    if (missing != null) {
      all.put(part, missing);
    }
  }

  private static @Nullable Grant ofProgram(User user, Request.Evaluate program) {
    String keyspace = program.keyspace();
    for (Call.Guard guard : program.guards()) {
      if (!user.may(Right.READ, keyspace, guard.key())) {
        return Grant.on(Right.READ, keyspace, guard.key());
      }
    }
    for (Call call : program.calls()) {
      if (call instanceof Call.Script) {
        continue; // rights are checked for each of its steps
      }
      if (tells(call) && !user.may(Right.READ, keyspace, call.key())) {
        return Grant.on(Right.READ, keyspace, call.key());
      }
      Key written = written(call);
      if (written != null && !user.may(Right.WRITE, keyspace, written)) {
        return Grant.on(Right.WRITE, keyspace, written);
      }
      if (call instanceof Call.Rename c) {
        Grant missing = missing(user, Right.WRITE, keyspace, c.key());
        if (missing != null) {
          return missing;
        }
      }
      Key asked = askedIfAbsent(call);
      if (asked != null && !user.may(Right.READ, keyspace, asked)) {
        return Grant.on(Right.READ, keyspace, asked);
      }
    }
    return anything(user, keyspace);
  }

  /**
   * Returns whether the call's answer, or its effect on another key, reveals something of its first
   * key.
   */
  private static boolean tells(Call call) {
    return switch (call) {
      case Call.Update c -> c.ask().isPresent();
      case Call.Replace c -> false;
      default -> true;
    };
  }

  private static @Nullable Key written(Call call) {
    return switch (call) {
      case Call.Rename c -> c.to();
      case Call.Copy c -> c.to();
      default -> call.isUpdate() ? call.key() : null;
    };
  }

  private static @Nullable Key askedIfAbsent(Call call) {
    return switch (call) {
      case Call.Rename c -> c.onlyIfAbsent() ? c.to() : null;
      case Call.Copy c -> c.onlyIfAbsent() ? c.to() : null;
      default -> null;
    };
  }

  private static @Nullable Grant ofStep(User user, Request.Transact step) {
    for (Request.Update update : step.updates()) {
      Grant missing = missing(user, Right.WRITE, step.keyspace(), update.key());
      if (missing != null) {
        return missing;
      }
    }
    for (Request.Fetch read : step.reads()) {
      Grant missing = missing(user, Right.READ, step.keyspace(), read.key());
      if (missing != null) {
        return missing;
      }
    }
    return anything(user, step.keyspace());
  }

  /**
   * Returns the first key that a scan must not show; empty if it may go on to the end of the
   * keyspace. A scan of a range that the user may only read in part ends with that part, as if the
   * keyspace ended there.
   */
  public static Optional<Key> endOf(User user, ScanRequest scan) {
    return user.readable(scan.keyspace(), scan.from()).end();
  }

  /** Returns a page without the rows that the user may not read. */
  public static Reply.Page within(Key end, Reply.Page page) {
    List<Reply.Row> rows =
        page.rows().stream().filter(row -> row.key().compareTo(end) < 0).toList();
    return new Reply.Page(rows, page.next().filter(n -> n.compareTo(end) < 0), page.seen());
  }
}
