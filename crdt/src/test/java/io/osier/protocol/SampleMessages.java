package io.osier.protocol;

import io.osier.core.Dot;
import io.osier.core.ErrorCode;
import io.osier.core.Key;
import io.osier.core.ReplicaId;
import io.osier.core.Value;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Part;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Requests and replies of each kind, with each optional part. */
final class SampleMessages {
  private SampleMessages() {}

  static final ReplicaId EU = new ReplicaId("eu", 7);
  static final Key KEY = Key.of("k");
  static final VersionVector SEEN = VersionVector.of(EU, 5);

  static List<Request> requests() {
    List<Request> all = new ArrayList<>();
    all.add(new Greeting.Hello(1, "test"));
    all.add(new Request.Ping());
    for (Query query :
        List.of(
            new Query.Whole(),
            new Query.Contains(Value.of(3)),
            new Query.Among(List.of(Value.of(3), Value.of("b"))),
            new Query.Size(),
            new Query.Exists(),
            new Query.TimeToLive(),
            new Query.Range(
                Optional.of(new Query.Bound(new Part.Element(Value.of(3)), true)),
                Optional.empty(),
                true,
                7),
            new Query.Select(List.of("f")))) {
      all.add(new Request.Read("ks", KEY, Optional.of(CrdtType.AW_SET), query, SEEN, true, 100));
    }
    all.add(
        new Request.Read(
            "ks", KEY, Optional.empty(), new Query.Whole(), VersionVector.EMPTY, false, 0));
    for (Operation operation :
        List.of(
            new Operation.Increment(-4),
            new Operation.Assign(Value.of(2.5)),
            new Operation.SetFlag(true),
            new Operation.Add(List.of(Value.of("a"), Value.of(new byte[] {1}))),
            new Operation.Remove(Value.of(9)),
            new Operation.UpdateFields(
                new FieldId("f", CrdtType.PN_COUNTER), new Operation.Increment(1)),
            new Operation.RemoveFields(List.of("f", "g")),
            new Operation.Clear(),
            new Operation.Delete(),
            new Operation.Expire(5_000, true),
            new Operation.WithDeadline(
                new Operation.Increment(3), new Operation.Expire(5_000, true)),
            new Operation.Persist())) {
      all.add(new Request.Write("ks", KEY, CrdtType.OR_MAP, operation, SEEN, 100));
    }
    for (boolean before : new boolean[] {true, false}) {
      all.add(
          new Request.Write(
              "ks",
              KEY,
              CrdtType.PN_COUNTER,
              new Operation.Increment(1),
              SEEN,
              100,
              Optional.of(new Request.Ask(before, new Query.Whole()))));
    }
    for (List<FieldId> path :
        List.of(
            List.<FieldId>of(),
            List.of(new FieldId("f", CrdtType.OR_MAP), new FieldId("g", CrdtType.LWW_REGISTER)))) {
      all.add(
          new Request.Write(
              "ks",
              KEY,
              CrdtType.OR_MAP,
              new Operation.Clear(),
              SEEN,
              100,
              Optional.empty(),
              Optional.of(
                  new Request.Condition(
                      path,
                      new Query.Whole(),
                      new Reading.Single(Optional.of(Value.of("expected")))))));
    }
    all.add(new ScanRequest("ks", Optional.of(KEY), Optional.empty(), new Query.Whole(), 10));
    for (ScanRequest.Want want : ScanRequest.Want.values()) {
      all.add(
          new ScanRequest(
              "ks",
              Optional.of(KEY),
              Optional.of(Key.of("l")),
              Optional.of(CrdtType.AW_SET),
              new Query.Exists(),
              10,
              want));
    }
    all.add(
        new ScanRequest(
            "ks",
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            new Query.Whole(),
            1,
            ScanRequest.Want.COUNT));
    all.add(new AdminRequest.Inspect(Request.Topic.HOT, Optional.of("ks"), 5));
    all.add(new AdminRequest.Backup(Optional.of("friday")));
    all.add(new AdminRequest.Backup(Optional.empty()));
    all.add(
        new Request.Transact(
            "ks",
            new TransactionId(1, -2),
            1,
            Optional.of(new Request.Begin(SEEN, true, 5, 1_000)),
            List.of(new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(3))),
            List.of(new Request.Fetch(KEY, Optional.empty(), new Query.Whole())),
            Request.End.COMMIT));
    all.add(
        new Request.Transact(
            "ks",
            new TransactionId(-1, 2),
            2,
            Optional.empty(),
            List.of(),
            List.of(),
            Request.End.ABORT));
    all.add(new Request.Repeat(EU, 9, (Request.Transact) all.getLast()));
    all.add(new Greeting.Login(2, "cart", "n,,n=cart,r=abc"));
    all.add(new Greeting.Proof("c=biws,r=abcdef,p=AAAA"));
    all.add(new ProgressRequest.Through("ks", 3));
    all.add(
        new Request.ReadAll(
            "ks",
            List.of(
                new Request.Fetch(KEY, Optional.of(CrdtType.AW_SET), new Query.Size()),
                new Request.Fetch(Key.of("l"), Optional.empty(), new Query.Exists())),
            SEEN,
            true,
            100));
    all.add(
        new Request.WriteAll(
            "ks",
            List.of(
                new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Increment(3)),
                new Request.Update(KEY, CrdtType.PN_COUNTER, new Operation.Clear())),
            SEEN,
            100));
    all.add(new WatchRequest("ks", Optional.of(KEY), false, List.of(), false, 100));
    all.add(new WatchRequest("ks", Optional.empty(), true, places(), true, 0));
    all.add(new Request.Evaluate("ks", calls(), List.of(new Call.Guard(KEY, SEEN)), SEEN, 100));
    all.add(
        new Request.Evaluate(
            "ks", List.of(new Call.Version(KEY)), List.of(), VersionVector.EMPTY, 0));
    return all;
  }

  static List<Call> calls() {
    Key other = Key.of("l");
    List<Call> calls = new ArrayList<>();
    calls.add(new Call.Read(KEY, Optional.empty(), new Query.Whole()));
    calls.add(new Call.Read(KEY, Optional.of(CrdtType.AW_SET), new Query.Size()));
    calls.add(new Call.Version(other));
    calls.add(new Call.Update(KEY, CrdtType.STRING, new Operation.Increment(3), Optional.empty()));
    calls.add(
        new Call.Update(
            KEY,
            CrdtType.STRING,
            new Operation.Increment(3),
            Optional.of(new Request.Ask(true, new Query.Whole()))));
    for (boolean either : new boolean[] {true, false}) {
      calls.add(
          new Call.Replace(KEY, CrdtType.STRING, new Operation.Assign(Value.of("v")), either));
      calls.add(new Call.Rename(KEY, other, either));
      calls.add(new Call.Copy(other, KEY, either));
    }
    calls.add(new Call.Take(KEY, CrdtType.AW_SET, 3, -5));
    for (Call.When when : Call.When.values()) {
      calls.add(new Call.ExpireIf(KEY, new Operation.Expire(7, true), when));
    }
    calls.add(
        new Call.Test(
            KEY,
            Optional.empty(),
            new Request.Condition(
                List.of(new FieldId("f", CrdtType.STRING)),
                new Query.Whole(),
                new Reading.Single(Optional.empty()))));
    return calls;
  }

  static List<WatchRequest.Place> places() {
    return List.of(
        new WatchRequest.Place(-7, 300, SEEN, Optional.empty()),
        new WatchRequest.Place(9, 0, VersionVector.EMPTY, Optional.of(KEY)));
  }

  static List<Reply> replies() {
    TreeMap<FieldId, Reading> fields = new TreeMap<>();
    fields.put(new FieldId("f", CrdtType.PN_COUNTER), new Reading.Count(3));
    List<Reply> all = new ArrayList<>();
    all.add(new Reply.Welcome(1, EU, List.of(new Reply.KeyspaceInfo("ks", 2_000, 2, false))));
    all.add(new Reply.Pong());
    all.add(new Reply.Done(new Dot(EU, 5)));
    all.add(
        new Reply.Done(
            new Dot(EU, 6),
            Optional.of(new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), SEEN))));
    for (Reading reading :
        List.of(
            new Reading.Count(-3),
            new Reading.Flag(true),
            new Reading.Single(Optional.of(Value.of("v"))),
            new Reading.Single(Optional.empty()),
            new Reading.Many(List.of(Value.of(1), Value.of(2))),
            new Reading.Fields(fields))) {
      all.add(new Reply.Answer(CrdtType.OR_MAP, reading, SEEN));
    }
    all.add(
        new Reply.Transacted(
            SEEN,
            Optional.of(new Dot(EU, 6)),
            List.of(new Reply.Answer(Optional.empty(), Optional.empty(), false, SEEN))));
    all.add(
        new Reply.Page(
            List.of(new Reply.Row(KEY, CrdtType.PN_COUNTER, new Reading.Count(1))),
            Optional.of(Key.of("l")),
            List.of(SEEN, VersionVector.EMPTY)));
    all.add(new Reply.Counted(70_000, Optional.of(Key.of("l")), List.of(SEEN)));
    all.add(
        new Reply.Changes(
            List.of(
                new Reply.Change(KEY, Optional.of(CrdtType.AW_SET), Optional.of(EU)),
                new Reply.Change(Key.of("l"), Optional.empty(), Optional.empty())),
            places(),
            true));
    all.add(new Reply.Report("{}"));
    all.add(new Reply.Through(SEEN));
    all.add(new Reply.Challenge("r=abcdef,s=AAAA,i=4096"));
    all.add(new Reply.Failure(ErrorCode.OVERLOADED, "later"));
    all.add(
        new Reply.All(
            List.of(
                new Reply.Done(new Dot(EU, 7)),
                new Reply.Answer(Optional.empty(), Optional.empty(), false, SEEN),
                new Reply.Failure(ErrorCode.WRONG_TYPE, "no"))));
    List<Reply> parts = ((Reply.All) all.getLast()).parts();
    all.add(new Reply.Evaluated(true, Optional.of(new Dot(EU, 7)), parts));
    all.add(new Reply.Evaluated(false, Optional.empty(), List.of()));
    all.addAll(whereKeyspacesAre());
    all.add(aged());
    return all;
  }

  static Reply.Answer aged() {
    return new Reply.Answer(CrdtType.PN_COUNTER, new Reading.Count(7), SEEN)
        .aged(Duration.ofMillis(12_345));
  }

  static List<Reply> whereKeyspacesAre() {
    List<Reply.KeyspaceInfo> here = List.of(new Reply.KeyspaceInfo("ks", 2_000, 2, false));
    Reply.Elsewhere elsewhere =
        new Reply.Elsewhere(
            List.of(
                new Reply.HeldElsewhere(
                    new Reply.KeyspaceInfo("carts", 500, 4, false), List.of("eu", "us")),
                new Reply.HeldElsewhere(
                    new Reply.KeyspaceInfo("bank", 100, 1, true), List.of("us"))),
            Map.of("us", "us.example:7400", "eu", "eu.example:7400"));
    return List.of(
        new Reply.Keyspaces(here),
        new Reply.Keyspaces(here, elsewhere),
        new Reply.Welcome(10, EU, here, elsewhere));
  }
}
