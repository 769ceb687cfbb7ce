package io.osier.datacenter.partition;

import io.osier.core.Key;
import io.osier.core.KeyspacePolicy;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.testing.Requests;
import io.osier.propagation.wire.Frame;
import io.osier.propagation.wire.Shipment;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.TransactionId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Partitions in virtual time, driven by commands; each frame is under way for 40 ms. Tells what
 * each step wants done, in the shell's order: what is to be recorded, what may go once that is
 * durable.
 *
 * <pre>
 *   start session|causal MS DC...      connects them; the SLA
 *   DC add KEY AMOUNT                  adds to a counter
 *   DC many N MS KEY                   adds 1 to a counter N times, every MS: runs of a kind are told
 *   DC ask N KEY after DC NUMBER MS    reads a counter N times, with a demand and a patience
 *   DC tx ID STEP open|commit [KEY VALUE]   a transaction's step, which assigns a register
 *   DC bound KEY LOWER UPPER           bounds a counter
 *   DC within KEY AMOUNT MS            adds to a bounded counter, waiting for rights
 *   DC spread N MS                     asks until N others have what it has, for so long
 *   cut DC DC, heal DC DC              cuts a link, both ways, or heals it
 *   run N                              lets N ms pass
 * </pre>
 *
 * <p>Of statuses and acknowledgements nothing is told.
 */
final class Script {
  private final StringBuilder told = new StringBuilder();
  private final List<String> kinds = new ArrayList<>();

  @SuppressWarnings("NullAway.Init") // the first command starts it
  private Cluster cluster;

  private long startMillis;
  private boolean onlyKinds;

  /** Runs a command; returns what came out. */
  String run(String command) {
    told.setLength(0);
    String[] words = command.split(" +");
    switch (words[0]) {
      case "start" -> start(words);
      case "cut" -> cluster.cut(words[1], words[2]);
      case "heal" -> cluster.heal(words[1], words[2]);
      case "run" -> cluster.run(Long.parseLong(words[1]));
      default -> command(cluster.dc(words[0]), words);
    }
    return told.toString();
  }

  private void start(String[] words) {
    Duration sla = Duration.ofMillis(Long.parseLong(words[2]));
    List<String> names = List.of(words).subList(3, words.length);
    cluster =
        new Cluster(
            words[1].equals("causal")
                ? KeyspacePolicy.causal("k", sla)
                : KeyspacePolicy.session("k", sla),
            names.toArray(new String[0]));
    startMillis = cluster.now().millis();
    cluster.heard = this::tell;
  }

  private void command(Cluster.Dc dc, String[] words) {
    switch (words[1]) {
      case "add" -> dc.add(words[2], Long.parseLong(words[3]));
      case "many" -> many(dc, Integer.parseInt(words[2]), Long.parseLong(words[3]), words[4]);
      case "ask" -> {
        VersionVector after = VersionVector.of(cluster.dc(words[5]).self, Long.parseLong(words[6]));
        for (int i = 0; i < Integer.parseInt(words[2]); i++) {
          dc.ask(words[3], after, Integer.parseInt(words[7]));
        }
      }
      case "tx" -> {
        List<Request.Update> updates = new ArrayList<>();
        if (words.length > 5) {
          updates.add(
              new Request.Update(
                  Key.of(words[5]),
                  CrdtType.LWW_REGISTER,
                  new Operation.Assign(Value.of(words[6]))));
        }
        dc.transact(
            new TransactionId(0, Long.parseLong(words[2])),
            Integer.parseInt(words[3]),
            Request.End.valueOf(words[4].toUpperCase(java.util.Locale.ROOT)),
            updates.toArray(new Request.Update[0]));
      }
      case "bound" -> {
        Operation bound =
            new Operation.Bound(
                Long.parseLong(words[3]), Long.parseLong(words[4]), List.of(dc.self.dc()));
        dc.write(words[2], CrdtType.BOUNDED_COUNTER, bound);
      }
      case "within" -> {
        long amount = Long.parseLong(words[3]);
        Operation within = new Operation.IncrementWithin(amount, Integer.parseInt(words[4]));
        // It may wait for rights, and be answered later.
        dc.submit(Requests.write("k", Key.of(words[2]), CrdtType.BOUNDED_COUNTER, within));
      }
      case "spread" ->
          dc.submit(
              new ProgressRequest.Spread(
                  "k",
                  0,
                  0,
                  VersionVector.EMPTY,
                  Integer.parseInt(words[2]),
                  Integer.parseInt(words[3])));
      default -> throw new IllegalArgumentException(String.join(" ", words));
    }
  }

  private void many(Cluster.Dc dc, int times, long everyMillis, String key) {
    onlyKinds = true;
    kinds.clear();
    for (int i = 0; i < times; i++) {
      dc.add(key, 1);
      cluster.run(everyMillis);
    }
    onlyKinds = false;
    for (int from = 0; from < kinds.size(); ) {
      int to = from;
      while (to < kinds.size() && kinds.get(to).equals(kinds.get(from))) {
        to++;
      }
      line(kinds.get(from) + " x " + (to - from));
      from = to;
    }
  }

  private void tell(Cluster.Dc dc, Effects effects) {
    String name = dc.self.dc();
    effects.records().forEach(r -> tellOne(name + " record  ", text(r)));
    for (Effects.Output output : effects.whenDurable()) {
      switch (output) {
        case Effects.ToClient a -> tellOne(name + " answer  ", text(a.reply()));
        case Effects.Visible v -> {}
        case Effects.Send s -> {
          String text = text(s.frame());
          if (!text.isEmpty()) {
            tellOne(name + ">" + s.to().dc() + " send ", text);
            if (onlyKinds && s.frame() instanceof Frame.Updates u) {
              kinds.add(name + ">" + s.to().dc() + " " + u.kind());
            }
          }
        }
      }
    }
  }

  private void tellOne(String what, String text) {
    if (!onlyKinds) {
      line(what + text);
    }
  }

  private void line(String text) {
    told.append(String.format("%6d  %s%n", cluster.now().millis() - startMillis, text));
  }

  private static String text(Effects.Recorded record) {
    return switch (record) {
      case Effects.Applied a -> text(a.update());
      case Effects.Committed c -> "commit " + c.number() + " is transaction " + c.transaction();
      case Effects.Forgotten f -> "forgotten " + f.object().key();
    };
  }

  private static String text(Reply reply) {
    return switch (reply) {
      case Reply.Done d -> "done " + d.dot().replica().dc() + ":" + d.dot().number();
      case Reply.Answer a -> "reads " + a.reading().map(Object::toString).orElse("nothing");
      case Reply.Failure f -> f.code() + ": " + f.message();
      case Reply.Transacted t ->
          "transacted"
              + t.dot()
                  .map(d -> ", committed as " + d.replica().dc() + ":" + d.number())
                  .orElse("");
      case Reply.Spread s -> s.number() + " is at " + new TreeSet<>(s.datacenters());
      default -> throw new AssertionError(reply);
    };
  }

  private static String text(Frame frame) {
    return switch (frame) {
      case Frame.Updates f ->
          f.kind()
              + " through "
              + f.through()
              + f.shipments().stream().map(s -> " [" + text(s) + "]").collect(Collectors.joining());
      case Frame.Resume f -> "resume";
      case Frame.Rights f ->
          "asks for "
              + f.amount()
              + " rights "
              + (f.upward() ? "up" : "down")
              + " of "
              + f.object().key();
      case Frame.Heal f -> "heal " + f.origin().dc();
      case Frame.States f -> "states of " + f.origin().map(o -> o.dc()).orElse("what was asked");
      case Frame.Fetch f -> "fetch";
      case Frame.Ack f -> "";
      case Frame.Status f -> "";
      case Frame.Verify f -> "verify";
      case Frame.Verified f -> "verified";
      case Frame.StatesAndOffer f -> text(f.states()) + ", offers";
      case Frame.Offer f -> "offer";
      case Frame.Withdrawn f -> "withdrawn";
      case Frame.Pull f -> "pull";
      case Frame.Ranges f -> "ranges";
      case Frame.Entries f -> "entries";
    };
  }

  /** The object, what it builds on, and its last update. */
  private static String text(Shipment s) {
    return s.object().key()
        + (s.content().isFull()
            ? " whole " + s.last()
            : " " + s.origin().dc() + " " + s.predecessor() + ".." + s.last());
  }
}
