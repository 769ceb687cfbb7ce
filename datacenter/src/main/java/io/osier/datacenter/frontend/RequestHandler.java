package io.osier.datacenter.frontend;

import io.osier.core.ErrorCode;
import io.osier.core.Homes;
import io.osier.core.Key;
import io.osier.core.OsierException;
import io.osier.core.Partitioning;
import io.osier.core.VersionVector;
import io.osier.crdt.CrdtType;
import io.osier.crdt.Operation;
import io.osier.datacenter.copies.CopiedReads;
import io.osier.datacenter.copies.Copies;
import io.osier.datacenter.feed.ChangeListener;
import io.osier.datacenter.forward.ChangesElsewhere;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.metrics.report.Inspector;
import io.osier.datacenter.metrics.report.ReportReply;
import io.osier.datacenter.placement.DemandCounters;
import io.osier.datacenter.shard.KeyspaceShard;
import io.osier.datacenter.shard.agent.GroupCommitHelp;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.datacenter.shard.agent.ShownAnswer;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Answers clients' requests, whether they come over the network or from within the process.
 * Thread-safe.
 */
public final class RequestHandler implements ClientService {
  private static final Logger LOG = LoggerFactory.getLogger(RequestHandler.class);

  /** Who administers from within the process. */
  private static final String EMBEDDED = "(this process)";

  private final Map<String, KeyspaceShard> keyspaces;
  private final Inspector inspector;
  private final Administrator administrator;
  private final GroupCommitHelp writeHelp;
  private final BooleanSupplier known;
  private final Others elsewhere;

  /** Where others do what is not held here; empty of one who refuses it. */
  private final Optional<Forwarder> forwarder;

  /** Copies of what others hold. */
  private final Optional<Copies> copies;

  /** Hears of changes of what others hold; null of who does not. */
  private volatile @Nullable ChangesElsewhere changes;

  /** What clients ask of keyspaces whose holders follow that; nothing of what others forward. */
  private volatile DemandCounters demand = new DemandCounters();

  /** The keyspaces that others hold. */
  @FunctionalInterface
  public interface Others {
    /**
     * All but those that are open here. As if they were held here are those whose holders follow
     * what is asked where their clients are, so that these do not go to a holder by themselves.
     */
    Reply.Keyspaces all(Set<String> open);

    /** One that is not open here; empty if there is none of that name. */
    default Optional<Reply.KeyspaceInfo> find(String keyspace) {
      Reply.Keyspaces all = all(Set.of());
      return Reply.Elsewhere.all(all.keyspaces(), all.elsewhere()).stream()
          .filter(k -> k.name().equals(keyspace))
          .findFirst();
    }
  }

  /** Changes what holds for all datacenters. */
  @FunctionalInterface
  public interface Administrator {
    /**
     * Carries out an operator's request; completes with one JSON object.
     *
     * @param by the operator's user
     */
    CompletableFuture<String> administer(Request.Administer request, String by);
  }

  /**
   * @param keyspaces those that clients see; they may come and go
   * @param writeHelp how who has run partitions sees to it that what they made is written
   * @param known whether all keyspaces are known: after a start others must be heard first
   * @param forwarder has what is not held here done elsewhere; empty for who refuses it
   * @param copies answer reads of what others hold, where they can; empty for who forwards all
   */
  public RequestHandler(
      Map<String, KeyspaceShard> keyspaces,
      Inspector inspector,
      Administrator administrator,
      GroupCommitHelp writeHelp,
      BooleanSupplier known,
      Others elsewhere,
      Optional<Forwarder> forwarder,
      Optional<Copies> copies) {
    this.keyspaces = keyspaces;
    this.inspector = inspector;
    this.administrator = administrator;
    this.writeHelp = writeHelp;
    this.known = known;
    this.elsewhere = elsewhere;
    this.forwarder = forwarder;
    this.copies = copies;
  }

  /** From now on what clients ask is counted here. */
  public void countIn(DemandCounters counters) {
    demand = counters;
  }

  /** From now on changes of what others hold are heard of by this. */
  public void hearBy(ChangesElsewhere hears) {
    changes = hears;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return told().keyspaces();
  }

  /** Of one moment: none is missing because it comes or goes, and none is in both. */
  @Override
  public Reply.Keyspaces told() {
    Map<String, KeyspaceShard> here = new LinkedHashMap<>(keyspaces);
    Reply.Keyspaces others = elsewhere.all(here.keySet());
    return new Reply.Keyspaces(
        Stream.concat(
                here.values().stream().map(k -> Reply.KeyspaceInfo.of(k.policy())),
                others.keyspaces().stream())
            .toList(),
        others.elsewhere());
  }

  @Override
  public List<Reply.KeyspaceInfo> settled() {
    return keyspaces.values().stream()
        .map(KeyspaceShard::policy)
        .filter(policy -> !policy.rules().counts())
        .map(Reply.KeyspaceInfo::of)
        .toList();
  }

  /** One of those that are here or elsewhere; null if there is none of that name. */
  public Reply.@Nullable KeyspaceInfo keyspace(String name) {
    KeyspaceShard held = keyspaces.get(name);
    return held != null ? Reply.KeyspaceInfo.of(held.policy()) : elsewhere.find(name).orElse(null);
  }

  @Override
  public Reply.Elsewhere elsewhere() {
    return told().elsewhere();
  }

  @Override
  public VersionVector shown(String keyspace, int partition) {
    return forwarder.map(f -> f.shownHere().of(keyspace, partition)).orElse(VersionVector.EMPTY);
  }

  @Override
  public Optional<Partitioning> partitioning(String keyspace) {
    KeyspaceShard shard = keyspaces.get(keyspace);
    return shard != null
        ? Optional.of(shard.policy().partitioning())
        : forwarder.flatMap(f -> f.holders(keyspace)).map(h -> h.partitioning());
  }

  /**
   * Acknowledges an update at once if it need not wait for its partition's turn.
   *
   * @param lane in which order the client's requests come
   * @return false if nothing was done and the request must be handled
   */
  public boolean combine(
      String keyspace, Key key, CrdtType type, Operation operation, OrderedQueue lane) {
    KeyspaceShard shard = keyspaces.get(keyspace);
    Homes homes = shard == null ? Homes.NONE : shard.policy().partitioning().homes();
    String home = homes.isEmpty() ? keyspace : homes.keyspace(Homes.base(keyspace), key);
    if (!home.equals(keyspace)) {
      shard = Homes.isHome(keyspace) ? null : keyspaces.get(home);
    }
    // It carries nothing of what the session was shown, which a former holder may have shown.
    if (shard == null || lane.hasGoneElsewhere(home) || !shard.combine(key, type, operation)) {
      return false;
    }
    demand.updated(home);
    return true;
  }

  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    handle(request, lane, "", reply); // whoever is in this process may do everything
  }

  @Override
  public void handle(Request request, OrderedQueue lane, String user, Consumer<Reply> reply) {
    try {
      Request here = forwarder.isPresent() ? toDoHere(request, lane, forwarder.get()) : request;
      if (here == null && goesElsewhere(request, lane, user, reply, forwarder.get())) {
        return;
      }
      boolean isBehind = here != request || here instanceof Request.Spread; // what others showed
      Consumer<Reply> told =
          here != null && isBehind && forwarder.isPresent()
              ? forwarder.get().shownHere().heard(here, reply)
              : reply;
      serve(here == null ? request : here, lane, here == null ? told : counted(here, told));
    } catch (OsierException e) {
      boolean mayBeThere = e.code() == ErrorCode.UNKNOWN_KEYSPACE && !knowsKeyspaces();
      reply.accept(mayBeThere ? NOT_KNOWN : new Reply.Failure(e.code(), e.reason()));
    } catch (RejectedExecutionException e) {
      // Those who read from the disk end before the connections do.
      reply.accept(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    } catch (RuntimeException e) {
      LOG.error("internal error in a client's {}", request.getClass().getSimpleName(), e);
      reply.accept(new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
    }
  }

  /** The request as it is done here; null if it is done elsewhere. */
  private @Nullable Request toDoHere(Request request, OrderedQueue lane, Forwarder elsewhere) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return request;
    }
    KeyspaceShard held = keyspaces.get(keyspace);
    if (held == null) {
      return null;
    }
    // What is asked for again may have been done elsewhere on another connection.
    return lane.hasGoneElsewhere(keyspace) || request instanceof Request.Repeat
        ? elsewhere.here(request, keyspace, held.policy().partitioning(), lane)
        : request;
  }

  /** Has a request done elsewhere, or answers it from a copy of what is there. */
  private boolean goesElsewhere(
      Request request, OrderedQueue lane, String user, Consumer<Reply> reply, Forwarder to) {
    String keyspace = Forwardable.keyspace(request).orElseThrow();
    if (!lane.hasGoneElsewhere(keyspace) && to.holders(keyspace).isEmpty()) {
      return false; // of names that mean nothing a connection remembers none
    }
    OrderedQueue.Elsewhere there = lane.goesElsewhere(keyspace);
    Consumer<Reply> answered = reply;
    if (request instanceof Request.Read read && copies.isPresent()) {
      Consumer<String> shownBy =
          holder -> {
            if (there.changesTo(holder)) {
              to.shownHere().shows(lane, keyspace, holder);
            }
          };
      CopiedReads shows = new CopiedReads(copies.get(), read, shownBy, reply);
      if (shows.answer(!lane.answersInOrder() || there.isIdle())) {
        return true;
      }
      answered = shows;
    }
    Consumer<Reply> counts = counted(keyspace, request, answered);
    if (request instanceof Request.Watch || !lane.answersInOrder()) {
      return to.forward(request, lane, user, counts);
    }
    there.begins();
    boolean goes =
        to.forward(
            request,
            lane,
            user,
            answer -> {
              there.ends();
              counts.accept(answer);
            });
    if (!goes) {
      there.ends();
    }
    return goes;
  }

  private Consumer<Reply> counted(Request request, Consumer<Reply> reply) {
    return forwarder.isEmpty() || demand.isEmpty()
        ? reply // it was counted by who has forwarded it
        : Forwardable.keyspace(request)
            .map(keyspace -> counted(keyspace, request, reply))
            .orElse(reply);
  }

  private Consumer<Reply> counted(String keyspace, Request request, Consumer<Reply> reply) {
    Consumer<Reply> measures = demand.counted(keyspace, request);
    return measures == null ? reply : new ShownAnswer(measures, reply);
  }

  @Override
  public void together(Runnable follows) {
    writeHelp.together(follows);
  }

  private void serve(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    switch (request) {
      case Request.Hello r -> throw notNow();
      case Request.Login r -> throw notNow();
      case Request.Proof r -> throw notNow();
      case Request.Ping r -> reply.accept(new Reply.Pong());
      case Request.Keyspaces r -> reply.accept(knowsKeyspaces() ? told() : NOT_KNOWN);
      case Request.Administer r -> administer(r, EMBEDDED, reply);
      case Request.Read r -> Inspector.keyspace(keyspaces, r.keyspace()).read(r, lane, reply);
      case Request.Write r -> Inspector.keyspace(keyspaces, r.keyspace()).write(r, lane, reply);
      case Request.ReadAll r -> Inspector.keyspace(keyspaces, r.keyspace()).readAll(r, lane, reply);
      case Request.WriteAll r ->
          Inspector.keyspace(keyspaces, r.keyspace()).writeAll(r, lane, reply);
      case Request.Evaluate r ->
          Inspector.keyspace(keyspaces, r.keyspace()).evaluate(r, lane, reply);
      case Request.Transact r ->
          Inspector.keyspace(keyspaces, r.keyspace()).transact(r, r, lane, reply);
      case Request.Repeat r ->
          Inspector.keyspace(keyspaces, r.step().keyspace()).transact(r.step(), r, lane, reply);
      case Request.Watch r -> Inspector.keyspace(keyspaces, r.keyspace()).watch(r, reply);
      case Request.Through r ->
          Inspector.keyspace(keyspaces, r.keyspace()).ask(r.partition(), r, reply);
      case Request.Spread r ->
          Inspector.keyspace(keyspaces, r.keyspace()).ask(r.partition(), r, reply);
      case Request.Reach r ->
          Inspector.keyspace(keyspaces, r.keyspace()).ask(r.partition(), r, reply);
      case Request.Scan r -> {
        KeyspaceShard keyspace = Inspector.keyspace(keyspaces, r.keyspace());
        keyspace.absorbAll();
        keyspace.scan(r, reply);
      }
      case Request.Inspect r -> {
        keyspaces.values().forEach(KeyspaceShard::absorbAll);
        inspector.inspect(r).whenComplete((text, error) -> ReportReply.send(text, error, reply));
      }
      case Request.Backup r ->
          inspector.backup(r).whenComplete((text, error) -> ReportReply.send(text, error, reply));
    }
  }

  @Override
  public boolean knowsKeyspaces() {
    return known.getAsBoolean();
  }

  @Override
  public void administer(Request.Administer request, String by, Consumer<Reply> reply) {
    administrator
        .administer(request, by)
        .whenComplete((text, error) -> ReportReply.send(text, error, reply));
  }

  @Override
  public boolean holds(String keyspace) {
    return keyspaces.get(keyspace) != null;
  }

  @Override
  public @Nullable Object life(String keyspace) {
    KeyspaceShard held = keyspaces.get(keyspace);
    return held != null
        ? held.life()
        : forwarder.flatMap(f -> f.holders(keyspace)).map(h -> h.creation()).orElse(null);
  }

  @Override
  public boolean listen(String keyspace, ChangeListener hears) {
    KeyspaceShard of = keyspaces.get(keyspace);
    ChangesElsewhere there = changes;
    if (of != null && there != null) {
      there.end(keyspace);
    }
    return of != null ? of.feed().listen(hears) : there == null || there.listen(keyspace, hears);
  }

  @Override
  public void usersChanged() {
    keyspaces.values().forEach(KeyspaceShard::releaseWatchers);
  }

  private static OsierException notNow() {
    return new OsierException(
        ErrorCode.MALFORMED, "only the first messages may be a greeting or a login");
  }
}
