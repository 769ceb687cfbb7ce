package io.osier.bench.sim.copies;

import io.osier.bench.sim.Simulation;
import io.osier.bench.sim.check.CopyCheck;
import io.osier.bench.sim.node.SimDc;
import io.osier.bench.sim.node.SimNode;
import io.osier.bench.sim.plan.Sabotage;
import io.osier.bench.sim.plan.Unit;
import io.osier.bench.sim.world.Violation;
import io.osier.core.ErrorCode;
import io.osier.core.ReplicaId;
import io.osier.core.VersionVector;
import io.osier.core.codec.WireInput;
import io.osier.core.codec.WireOutput;
import io.osier.core.net.ByteBudget;
import io.osier.datacenter.copies.Copies;
import io.osier.datacenter.copies.FollowCodec;
import io.osier.datacenter.copies.Followers;
import io.osier.datacenter.copies.Holders;
import io.osier.datacenter.forward.Forwardable;
import io.osier.datacenter.forward.ForwardedRequest;
import io.osier.datacenter.forward.Forwarder;
import io.osier.datacenter.forward.ForwardingHost;
import io.osier.datacenter.forward.ShownVersions;
import io.osier.datacenter.shard.agent.OrderedQueue;
import io.osier.propagation.net.PeerListener;
import io.osier.protocol.ProtocolCodec;
import io.osier.protocol.Reply;
import io.osier.protocol.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Production's read copies in one life of a datacenter: those that it has, and what it tells those
 * who copy what is held here. What a copy shows is checked when it answers.
 */
public final class SimCopies implements Holders {
  private final Simulation simulation;
  private final SimDc dc;
  private final Forwarder forwarder;
  private final ForwardingHost host;
  private final Copies copies;
  private final Followers followers;

  /** The holders that have told something over their present connections. */
  private final Set<String> telling = new HashSet<>();

  private Object placed = List.of();

  /**
   * Copies nothing yet, and hears from now on of what the forwarder is answered.
   *
   * @param millis the datacenter's time, in milliseconds since 1970
   */
  public SimCopies(
      Simulation simulation,
      SimDc dc,
      Forwarder forwarder,
      ForwardingHost host,
      LongSupplier millis) {
    this.simulation = simulation;
    this.dc = dc;
    this.forwarder = forwarder;
    this.host = host;
    this.copies = new Copies(this, simulation.profile().copies(), millis);
    this.followers =
        new Followers(
            new SimFollowed(simulation, dc, host),
            new ByteBudget(simulation.profile().followersBytes()),
            simulation.scheduler()::nanos);
    forwarder.tell(
        (of, request, partition, reply, size) -> {
          partition.ifPresent(p -> shown(request, p, reply));
          copies.answered(of, request, partition, reply, size);
        });
  }

  private Sabotage sabotage() {
    return simulation.options().sabotage();
  }

  // ---------------------------------------------------------------- what its clients read

  /**
   * Answers a read from a copy.
   *
   * @return null if it must be forwarded
   */
  public @Nullable Reply answer(Unit unit, Request.Read read, OrderedQueue lane) {
    Copies.Answer copied = copies.answer(sabotage().copied(read), true);
    if (copied == null) {
      return null;
    }
    shows(read, lane, copied);
    if (!telling.contains(copied.holder())) {
      throw new Violation(
          unit,
          "%s answers from a copy whose subscription has ended: %s, of %s",
          dc.self(),
          read,
          copied.holder());
    }
    if (copied.reply() instanceof Reply.Answer answer) {
      simulation.checks(unit).copies().answered(this, dc.self(), read, answer.seen());
    }
    return copied.reply();
  }

  private void shows(Request.Read read, OrderedQueue lane, Copies.Answer copied) {
    if (lane.goesElsewhere(read.keyspace()).changesTo(copied.holder())) {
      forwarder.shownHere().shows(lane, read.keyspace(), copied.holder());
    }
  }

  /**
   * Answers a read that failed as UNAVAILABLE.
   *
   * @return null if it fails
   */
  public @Nullable Reply stale(Unit unit, Request.Read read, OrderedQueue lane) {
    Copies.Answer copied = copies.stale(sabotage().copied(read));
    if (copied == null) {
      return null;
    }
    shows(read, lane, copied);
    if (!(copied.reply() instanceof Reply.Answer answer)) {
      return copied.reply();
    }
    Duration age = sabotage().told(answer.age().orElseThrow());
    CopyCheck check = simulation.checks(unit).copies();
    check.answered(this, dc.self(), read, answer.seen());
    SimDc holder = simulation.dc(copied.holder());
    if (holder.serves(unit)) {
      SimNode there = holder.node(unit);
      long now = simulation.scheduler().nanos();
      Object life = List.of(copied.holder(), holder.life());
      check.aged(life, dc.self(), read, answer.seen(), now, age);
      if (there.store().recorded() == there.store().durable()) { // nobody is told what may be lost
        check.holds(life, read, there::covered, now);
      }
    }
    return answer.aged(age);
  }

  /** A forwarded request of one partition is answered. */
  private void shown(Request request, int partition, Reply reply) {
    String keyspace = Forwardable.keyspace(request).orElse(null);
    if (keyspace == null) {
      return;
    }
    CopyCheck check = simulation.checks(simulation.unit(keyspace, partition)).copies();
    if (!(reply instanceof Reply.Failure f)) {
      check.shown(this, Forwardable.keys(request), ShownVersions.seen(reply));
    } else if (f.code() == ErrorCode.SESSION_LOST) {
      check.forget(this);
    }
  }

  /** A datacenter is connected no more. */
  public void down(String peer) {
    telling.remove(peer);
    followers.down(peer);
  }

  // ---------------------------------------------------------------- what others follow

  /** Another datacenter asks what becomes of objects. */
  public void asked(ReplicaId peer, ForwardedRequest asked, PeerListener.Answers answers) {
    Reply nothing = new Reply.Failure(ErrorCode.UNAVAILABLE, "tells nobody");
    followers.asked(
        peer,
        asked.request(),
        content ->
            answers.send(
                content == null
                    ? ProtocolCodec.encode(asked.id(), nothing)
                    : ForwardedRequest.answer(asked.id(), content),
                () -> {}));
  }

  // ---------------------------------------------------------------- for the copies

  @Override
  public Object placed() {
    List<Object> now = new ArrayList<>();
    simulation.units().forEach(unit -> now.add(heldElsewhere(unit.policy().name())));
    if (!now.equals(placed)) {
      placed = now;
    }
    return placed;
  }

  @Override
  public Optional<ForwardingHost.Held> heldElsewhere(String keyspace) {
    Unit unit = simulation.unit(keyspace, 0);
    return unit.isCausal() || dc.serves(unit) ? Optional.empty() : host.holders(keyspace);
  }

  @Override
  public void ask(
      String of,
      Consumer<WireOutput> content,
      long waitMillis,
      Consumer<@Nullable WireInput> answer) {
    UnaryOperator<FollowCodec.Answer> spoils =
        sabotage() == Sabotage.NONE
            ? null
            : sabotage().follows(dc.self(), FollowCodec.readAsk(input(content)));
    forwarder
        .own()
        .ask(
            of,
            content,
            waitMillis,
            told -> {
              boolean tells = told != null && FollowCodec.isOfThese(told);
              if (tells) {
                telling.add(of);
              }
              if (tells && spoils != null) {
                FollowCodec.Answer spoiled = spoils.apply(FollowCodec.readAnswer(told));
                answer.accept(input(out -> FollowCodec.write(out, spoiled)));
              } else if (tells || !sabotage().keepsCopies()) {
                answer.accept(told);
              }
            });
  }

  private static WireInput input(Consumer<WireOutput> content) {
    return new WireInput(WireOutput.bytesOf(content));
  }

  @Override
  public Duration staleReads(String keyspace) {
    return simulation.profile().staleReads();
  }

  @Override
  public boolean mayAsk(String of) {
    return host.mayAsk(of);
  }

  @Override
  public double roundTripMillis(String of) {
    return forwarder.shownHere().roundTripMillis(of);
  }

  @Override
  public VersionVector shown(String keyspace, int partition) {
    return forwarder.shownHere().of(keyspace, partition);
  }

  @Override
  public void shows(String keyspace, int partition, VersionVector more) {
    forwarder.shownHere().shows(keyspace, partition, more);
  }

  @Override
  public void later(Runnable task, long millis) {
    host.later(task, millis);
  }
}
