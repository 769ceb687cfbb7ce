package io.osier.datacenter.shard.agent;

import static java.util.Objects.requireNonNull;

import io.osier.core.net.InFlight;
import io.osier.datacenter.partition.machine.Effects;
import io.osier.datacenter.partition.machine.Input;
import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.datacenter.partition.machine.Waited;
import io.osier.protocol.Reply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.LongFunction;

/**
 * What leaves of a {@link PartitionAgent}'s batches, and who waits for it: a batch's records go to
 * the journal as one group, and its replies and frames leave when that is durable. Used by the
 * thread that steps; what is durable is told of in any.
 */
final class BatchOutputs {
  private final PartitionPorts ports;
  private final Time time;
  private final boolean tellsApart;
  private final PartitionAgent.Driver driver;
  private final Consumer<Input> back;

  /** Who waits for an answer, by ticket. */
  private final InFlight<Consumer<Reply>> waiting = new InFlight<>();

  private final InFlight<CompletableFuture<PartitionReport>> inspections = new InFlight<>();

  /** What the journal has not taken yet. */
  private Completions leaving = Completions.NONE;

  private PendingReplies told = PendingReplies.NONE;
  private long groups;

  /** The last group with records. */
  private long groupRecorded;

  /** How many groups are durable and their outputs out; written by the journal's thread. */
  private volatile long groupsOut;

  /** The last of them with records; before its outputs are out. */
  private volatile long recordedOut;

  /**
   * @param back takes what follows from answers that take long
   */
  BatchOutputs(
      PartitionPorts ports,
      Time time,
      boolean tellsApart,
      PartitionAgent.Driver driver,
      Consumer<Input> back) {
    this.ports = ports;
    this.time = time;
    this.tellsApart = tellsApart;
    this.driver = driver;
    this.back = back;
  }

  /** Somebody waits for a command's answer. */
  void await(long ticket, Inbox.Command command) {
    waiting.put(ticket, command);
  }

  /** Somebody waits for a report. */
  void await(long ticket, CompletableFuture<PartitionReport> report) {
    inspections.put(ticket, report);
  }

  /** Whether all groups are out, and nobody waits for an answer. */
  boolean areOut() {
    return groupsOut == groups && waiting.isEmpty();
  }

  /**
   * Hands a batch's records to the journal, and has the rest leave behind them.
   *
   * @param waited what the commands had waited for that have gone on
   */
  void carryOut(Effects effects, List<Waited.Command> waited) {
    for (Waited.Command w : waited) {
      if (waiting.get(w.ticket()) instanceof Inbox.Command c && c.reply() instanceof Phased p) {
        p.waited(w.waited());
      }
    }
    Completions departure = completions(effects);
    departure.executed(time);
    leaving = departure; // to be answered with the failure, should there be one
    groups++;
    if (!effects.records().isEmpty()) {
      groupRecorded = groups;
    }
    Leaving out = new Leaving(departure, groups, groupRecorded);
    effects.keep(ports.journal(), out);
    leaving = Completions.NONE;
    Completions answers = out.stepEnds();
    if (answers != Completions.NONE || !effects.atOnce().isEmpty()) {
      told = new PendingReplies(answers, reports(effects.atOnce()));
    }
  }

  /** Takes those who are answered out of those who wait. */
  private Completions completions(Effects effects) {
    return Completions.of(
        effects.whenDurable(), waiting, driver::couldNotLeave, ports.sender()::later, back);
  }

  /** Lets a batch's outputs go, once its group is durable. */
  private final class Leaving implements Runnable {
    private final Completions departure;
    private final long group;
    private final long recorded;
    private final Thread stepping = Thread.currentThread();

    // Only the thread that steps touches these.
    private boolean stepHasEnded;
    private Completions answers = Completions.NONE;

    Leaving(Completions departure, long group, long recorded) {
      this.departure = departure;
      this.group = group;
      this.recorded = recorded;
    }

    /** The step that made it is over; returns what it has left to be answered. */
    Completions stepEnds() {
      stepHasEnded = true;
      return answers;
    }

    @Override
    public void run() {
      recordedOut = recorded; // first: whoever is answered looks
      if (tellsApart && Thread.currentThread() == stepping && !stepHasEnded) {
        departure.send(ports.sender());
        answers = departure;
      } else {
        departure.leave(ports.sender());
      }
      groupsOut = group;
      driver.groupIsOut();
    }
  }

  /** See {@link PartitionAgent#recorded}. */
  long recorded() {
    return recordedOut;
  }

  private List<PendingReplies.Reported> reports(List<Effects.Report> made) {
    if (made.isEmpty()) {
      return List.of();
    }
    List<PendingReplies.Reported> reports = new ArrayList<>(made.size());
    for (Effects.Report r : made) {
      reports.add(
          new PendingReplies.Reported(
              requireNonNull(inspections.remove(r.ticket()), "a report nobody asked for"),
              r.report()));
    }
    return reports;
  }

  /** Returns and clears the replies that the last batch left to be sent. */
  PendingReplies takeReplies() {
    PendingReplies taken = told;
    told = PendingReplies.NONE;
    return taken;
  }

  /**
   * Answers everybody who still waits: no batch follows.
   *
   * @param last what was gathered and does not leave
   * @param unknown the answer to what may have been done
   * @param instead the answer to those commands of which nothing was done, by ticket
   * @param gone for those who wait for a report
   */
  void abandon(
      Effects last, Reply.Failure unknown, LongFunction<Reply.Failure> instead, Throwable gone) {
    completions(last).abandon(unknown);
    leaving.abandon(unknown);
    told.abandon(unknown);
    waiting.forEach((reply, ticket) -> reply.accept(instead.apply(ticket)));
    waiting.removeAll();
    inspections.removeAll().forEach(i -> i.completeExceptionally(gone));
  }
}
