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
import io.osier.protocol.AdminRequest;
import io.osier.protocol.Greeting;
import io.osier.protocol.ProgressRequest;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import io.osier.protocol.ScanRequest;
import io.osier.protocol.WatchRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Supplier;
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

  /** The user of requests from within the process, in logs. */
  private static final String EMBEDDED = "(this process)";

  private final Map<String, KeyspaceShard> keyspaces;
  private final Inspector inspector;
  private final Administrator administrator;
  private final GroupCommitHelp writeHelp;
  private final Supplier<Optional<String>> unknown;
  private final Others elsewhere;

  /** Forwards requests for keyspaces that others hold; empty to refuse them. */
  private final Optional<Forwarder> forwarder;

  /** The copies of objects that others hold. */
  private final Optional<Copies> copies;

  /** Learns the changes of keyspaces that others hold; null if nothing does. */
  private volatile @Nullable ChangesElsewhere changes;

  /**
   * Counts clients' requests for keyspaces whose holders follow the load; not those that others
   * forward.
   */
  private volatile DemandCounters demand = new DemandCounters();

  /** The keyspaces that others hold. */
  @FunctionalInterface
  public interface Others {
    /**
     * Returns all keyspaces but those that are open here. Keyspaces whose holders follow the load
     * are shown as if they were held here, so that clients do not go to a holder themselves.
     */
    Reply.Keyspaces all(Set<String> open);

    /** Returns a keyspace that is not open here; empty if there is no such keyspace. */
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
    CompletableFuture<String> administer(AdminRequest.Administer request, String by);
  }

  /**
   * @param keyspaces the keyspaces that clients see; they may come and go
   * @param writeHelp lets the threads that run partitions write what these have made
   * @param unknown returns, in words, why not all keyspaces are known; empty if they are: after a
   *     start others must be heard first
   * @param forwarder forwards requests for keyspaces that others hold; empty to refuse them
   * @param copies answer reads of keyspaces that others hold, where they can; empty to forward all
   */
  public RequestHandler(
      Map<String, KeyspaceShard> keyspaces,
      Inspector inspector,
      Administrator administrator,
      GroupCommitHelp writeHelp,
      Supplier<Optional<String>> unknown,
      Others elsewhere,
      Optional<Forwarder> forwarder,
      Optional<Copies> copies) {
    this.keyspaces = keyspaces;
    this.inspector = inspector;
    this.administrator = administrator;
    this.writeHelp = writeHelp;
    this.unknown = unknown;
    this.elsewhere = elsewhere;
    this.forwarder = forwarder;
    this.copies = copies;
  }

  /** Counts clients' requests in these counters from now on. */
  public void countIn(DemandCounters counters) {
    demand = counters;
  }

  /** Lets this learn the changes of keyspaces that others hold from now on. */
  public void hearBy(ChangesElsewhere hears) {
    changes = hears;
  }

  @Override
  public List<Reply.KeyspaceInfo> keyspaces() {
    return told().keyspaces();
  }

  /** As of one moment: no keyspace is missing because it comes or goes, and none is in both. */
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

  /** Returns a keyspace that is held here or elsewhere; null if there is no such keyspace. */
  public Reply.@Nullable KeyspaceInfo keyspace(String name) {
    KeyspaceShard held = keyspaces.get(name);
    return held != null ? Reply.KeyspaceInfo.of(held.policy()) : elsewhere.find(name).orElse(null);
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
   * @param lane keeps the order of the requests of the client's connection
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
    // The update carries no vector, which it needs after another holder has shown something.
    if (shard == null || lane.hasGoneElsewhere(home) || !shard.combine(key, type, operation)) {
      return false;
    }
    demand.updated(home);
    return true;
  }

  @Override
  public void handle(Request request, OrderedQueue lane, Consumer<Reply> reply) {
    handle(request, lane, "", reply); // this process itself may do everything
  }

  @Override
  public void handle(Request request, OrderedQueue lane, String user, Consumer<Reply> reply) {
    try {
      Request here = forwarder.isPresent() ? toDoHere(request, lane, forwarder.get()) : request;
      if (here == null && goesElsewhere(request, lane, user, reply, forwarder.get())) {
        return;
      }
      boolean waits =
          here != request || here instanceof ProgressRequest.Spread; // for what others showed
      Consumer<Reply> told =
          here != null && waits && forwarder.isPresent()
              ? forwarder.get().shownHere().heard(here, reply)
              : reply;
      serve(here == null ? request : here, lane, here == null ? told : counted(here, told));
    } catch (OsierException e) {
      Reply.Failure why = new Reply.Failure(e.code(), e.reason());
      boolean mayBeThere = e.code() == ErrorCode.UNKNOWN_KEYSPACE;
      reply.accept(mayBeThere ? mayLackKeyspaces().orElse(why) : why);
    } catch (RejectedExecutionException e) {
      // The readers of the disk end before the connections do.
      reply.accept(new Reply.Failure(ErrorCode.SHUTTING_DOWN, "the datacenter is shutting down"));
    } catch (RuntimeException e) {
      LOG.error("internal error in a client's {}", request.getClass().getSimpleName(), e);
      reply.accept(new Reply.Failure(ErrorCode.INTERNAL, "internal error in the datacenter: " + e));
    }
  }

  /** Returns the request as it is done here; null if it is done elsewhere. */
  private @Nullable Request toDoHere(Request request, OrderedQueue lane, Forwarder elsewhere) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return request;
    }
    KeyspaceShard held = keyspaces.get(keyspace);
    if (held == null) {
      return null;
    }
    // A repeated step may have been done elsewhere, on another connection.
    return lane.hasGoneElsewhere(keyspace) || request instanceof Request.Repeat
        ? elsewhere.here(request, keyspace, held.policy().partitioning(), lane)
        : request;
  }

  /** Forwards a request, or answers it from a copy; returns false if there is no such keyspace. */
  private boolean goesElsewhere(
      Request request, OrderedQueue lane, String user, Consumer<Reply> reply, Forwarder to) {
    String keyspace = Forwardable.keyspace(request).orElseThrow();
    if (!lane.hasGoneElsewhere(keyspace) && to.holders(keyspace).isEmpty()) {
      return false; // a connection does not remember names of keyspaces that do not exist
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
    if (request instanceof WatchRequest || !lane.answersInOrder()) {
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
        ? reply // the forwarding datacenter has counted it
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
      case Greeting r ->
          throw new OsierException(
              ErrorCode.MALFORMED, "only the first messages may be a greeting or a login");
      case Request.Ping r -> reply.accept(new Reply.Pong());
      case Request.Keyspaces r ->
          reply.accept(mayLackKeyspaces().<Reply>map(why -> why).orElseGet(this::told));
      case AdminRequest.Administer r -> administer(r, EMBEDDED, reply);
      case Request.Read r -> shard(r.keyspace()).read(r, lane, reply);
      case Request.Write r -> shard(r.keyspace()).write(r, lane, reply);
      case Request.ReadAll r -> shard(r.keyspace()).readAll(r, lane, reply);
      case Request.WriteAll r -> shard(r.keyspace()).writeAll(r, lane, reply);
      case Request.Evaluate r -> shard(r.keyspace()).evaluate(r, lane, reply);
      case Request.Transact r -> shard(r.keyspace()).transact(r, r, lane, reply);
      case Request.Repeat r -> shard(r.step().keyspace()).transact(r.step(), r, lane, reply);
      case WatchRequest r -> shard(r.keyspace()).watch(r, reply);
      case ProgressRequest r -> shard(r.keyspace()).ask(r.partition(), r, reply);
      case ScanRequest r -> {
        KeyspaceShard keyspace = shard(r.keyspace());
        keyspace.absorbAll();
        keyspace.scan(r, reply);
      }
      case AdminRequest.Inspect r -> {
        keyspaces.values().forEach(KeyspaceShard::absorbAll);
        inspector.inspect(r).whenComplete((text, error) -> ReportReply.send(text, error, reply));
      }
      case AdminRequest.Backup r ->
          inspector.backup(r).whenComplete((text, error) -> ReportReply.send(text, error, reply));
    }
  }

  private KeyspaceShard shard(String keyspace) {
    return Inspector.keyspace(keyspaces, keyspace);
  }

  @Override
  public Optional<Reply.Failure> mayLackKeyspaces() {
    return unknown
        .get()
        .map(
            why ->
                new Reply.Failure(
                    ErrorCode.UNAVAILABLE, "not all keyspaces are known here yet: " + why));
  }

  @Override
  public void administer(AdminRequest.Administer request, String by, Consumer<Reply> reply) {
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
}
