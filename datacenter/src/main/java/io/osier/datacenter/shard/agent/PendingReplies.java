package io.osier.datacenter.shard.agent;

import io.osier.datacenter.partition.machine.PartitionReport;
import io.osier.protocol.Reply;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Replies and reports that a step has made, to be sent once its lock is released. */
public final class PendingReplies {
  static final PendingReplies NONE = new PendingReplies(Completions.NONE, List.of());
  private final Completions answers;
  private final List<Reported> reports;

  /** A report and the future of who asked for it. */
  record Reported(CompletableFuture<PartitionReport> to, PartitionReport report) {
    void tell() {
      to.complete(report);
    }
  }

  PendingReplies(Completions answers, List<Reported> reports) {
    this.answers = answers;
    this.reports = reports;
  }

  public void tell() {
    answers.answer();
    reports.forEach(Reported::tell);
  }

  /** Answers all commands with this reply instead. */
  void abandon(Reply instead) {
    answers.abandon(instead);
    reports.forEach(Reported::tell);
  }
}
