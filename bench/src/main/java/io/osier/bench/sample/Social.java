package io.osier.bench.sample;

import io.osier.core.Key;
import io.osier.core.Value;
import io.osier.crdt.CrdtType;
import io.osier.crdt.FieldId;
import io.osier.crdt.Operation;
import io.osier.crdt.Query;
import io.osier.crdt.Reading;
import io.osier.proxy.Keyspace;
import io.osier.proxy.Keyspace.Change;
import io.osier.proxy.Keyspace.Found;
import io.osier.proxy.Keyspace.Get;
import io.osier.proxy.Transaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicLong;

/** A social network: posts, replies, likes and followers. */
public final class Social extends SampleUnderFaults {
  private static final int USERS = 8;
  private static final int FEEDS = 4;
  static final FieldId PARENT = new FieldId("parent", CrdtType.LWW_REGISTER);
  static final FieldId LIKES = new FieldId("likes", CrdtType.PN_COUNTER);
  static final FieldId LIKED_BY = new FieldId("liked-by", CrdtType.AW_SET);

  private final AtomicLong ids = new AtomicLong();
  private final AtomicLong posts = new AtomicLong();
  private final AtomicLong likes = new AtomicLong();
  private final AtomicLong follows = new AtomicLong();

  @Override
  public String keyspace() {
    return "social";
  }

  @Override
  void prepare(Keyspace keyspace) {
    post(keyspace, 0, 0, "first");
  }

  private static String feed(int i) {
    return "feed-" + i;
  }

  private static Key post(long id) {
    return Key.of("post-" + id);
  }

  /** Writes a post and its place in a feed together. */
  private void post(Keyspace keyspace, int feed, long parent, String text) {
    long id = ids.incrementAndGet();
    keyspace.updateTogether(
        List.of(
            new Change(
                post(id),
                CrdtType.OR_MAP,
                new Operation.UpdateFields(
                    List.of(
                        new Operation.FieldUpdate(
                            new FieldId("text", CrdtType.LWW_REGISTER),
                            new Operation.Assign(Value.of(text))),
                        new Operation.FieldUpdate(
                            PARENT, new Operation.Assign(Value.of(parent)))))),
            new Change(feed(feed), CrdtType.AW_SET, new Operation.Add(Value.of(id)))));
    posts.incrementAndGet();
  }

  private static List<Long> newest(List<Value> feed, int limit) {
    List<Long> all =
        feed.stream()
            .map(v -> ((Value.Int) v).content())
            .sorted((a, b) -> Long.compare(b, a))
            .toList();
    return all.subList(0, Math.min(limit, all.size()));
  }

  @Override
  void act(Keyspace keyspace, String dc, Random random) {
    int user = random.nextInt(USERS);
    switch (random.nextInt(5)) {
      case 0 -> post(keyspace, random.nextInt(FEEDS), 0, "a post of " + user);
      case 1, 2 -> {
        // Reads a feed and replies into another one: single requests, whose order the session
        // keeps.
        List<Long> read = newest(keyspace.set(feed(random.nextInt(FEEDS))).get(), 10);
        if (!read.isEmpty()) {
          long parent = read.get(random.nextInt(read.size()));
          post(keyspace, random.nextInt(FEEDS), parent, "a reply of " + user);
        }
      }
      case 3 -> like(keyspace, user, random);
      default -> follow(keyspace, user, random);
    }
  }

  private void like(Keyspace keyspace, int user, Random random) {
    try (Transaction tx = keyspace.begin()) {
      List<Long> read = newest(tx.set(feed(random.nextInt(FEEDS))).get(), 10);
      if (read.isEmpty()) {
        return;
      }
      long id = read.get(random.nextInt(read.size()));
      // A like is somebody's own: of each user and session there is one, so sums and sets agree.
      Value who = Value.of("user-" + user + "-" + ids.incrementAndGet());
      tx.map("post-" + id).set("liked-by").add(List.of(who));
      tx.map("post-" + id).counter("likes").increment(1);
      tx.commit();
      likes.incrementAndGet();
    }
  }

  private void follow(Keyspace keyspace, int user, Random random) {
    int other = random.nextInt(USERS);
    keyspace.updateTogether(
        List.of(
            new Change("following-" + user, CrdtType.G_SET, new Operation.Add(Value.of(other))),
            new Change("followers-" + other, CrdtType.G_SET, new Operation.Add(Value.of(user)))));
    follows.incrementAndGet();
  }

  @Override
  void check(Keyspace keyspace, String dc) {
    try (Transaction tx = keyspace.begin()) {
      checkPosts(tx, dc);
      checkFollowers(tx, dc);
    }
  }

  private void checkPosts(Transaction tx, String dc) {
    Set<Long> shown = new HashSet<>();
    Set<Long> latest = new HashSet<>();
    for (int i = 0; i < FEEDS; i++) {
      List<Value> feed = tx.set(feed(i)).get();
      feed.forEach(v -> shown.add(((Value.Int) v).content()));
      latest.addAll(newest(feed, 20));
    }
    List<Long> ids = List.copyOf(latest);
    List<Get> reads = new ArrayList<>();
    for (long id : ids) {
      reads.add(new Get(post(id), Optional.of(CrdtType.OR_MAP), new Query.Whole()));
    }
    List<Found> found = tx.readTogether(reads);
    for (int i = 0; i < ids.size(); i++) {
      checkPost(
          dc, ids.get(i), ((Reading.Fields) found.get(i).reading().orElseThrow()).fields(), shown);
    }
  }

  /** Checks a post of a feed; {@code shown} are the posts of all feeds. */
  void checkPost(String dc, long id, SortedMap<FieldId, Reading> fields, Set<Long> shown) {
    if (!(fields.get(PARENT) instanceof Reading.Single parent)) {
      violated("%s shows post %d in a feed and not its text", dc, id);
      return;
    }
    long of = ((Value.Int) parent.value().orElseThrow()).content();
    if (of != 0 && !shown.contains(of)) {
      violated("%s shows reply %d without post %d", dc, id, of);
    }
    long likes = fields.get(LIKES) instanceof Reading.Count c ? c.value() : 0;
    long likers = fields.get(LIKED_BY) instanceof Reading.Many m ? m.values().size() : 0;
    if (likes != likers) {
      violated("%s counts %d likes of post %d, and %d who like it", dc, likes, id, likers);
    }
  }

  private void checkFollowers(Transaction tx, String dc) {
    checkFollowers(dc, sets(tx, "following-"), sets(tx, "followers-"));
  }

  /** Checks that each followed user has the follower; both maps are by user. */
  void checkFollowers(
      String dc, Map<Integer, Set<Long>> following, Map<Integer, Set<Long>> followers) {
    following.forEach(
        (user, others) ->
            others.forEach(
                other -> {
                  if (!followers.getOrDefault(other.intValue(), Set.of()).contains((long) user)) {
                    violated("%s: user %d follows %d, who does not know it", dc, user, other);
                  }
                }));
  }

  private static Map<Integer, Set<Long>> sets(Transaction tx, String prefix) {
    List<Get> reads = new ArrayList<>();
    for (int i = 0; i < USERS; i++) {
      reads.add(new Get(prefix + i, CrdtType.G_SET));
    }
    Map<Integer, Set<Long>> sets = new java.util.TreeMap<>();
    List<Found> found = tx.readTogether(reads);
    for (int i = 0; i < USERS; i++) {
      Set<Long> set = new HashSet<>();
      for (Value value : ((Reading.Many) found.get(i).reading().orElseThrow()).values()) {
        set.add(((Value.Int) value).content());
      }
      sets.put(i, set);
    }
    return sets;
  }

  @Override
  void checkEnd(Keyspace keyspace, String dc) {
    if (keyspace.set(feed(0)).size() == 0) {
      violated("%s shows nothing in the end", dc);
    }
  }

  @Override
  List<AtomicLong> counts() {
    return List.of(posts, likes, follows);
  }

  @Override
  String summary() {
    return posts + " posts and replies, " + likes + " likes, " + follows + " follows";
  }
}
