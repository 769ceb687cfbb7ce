package io.osier.bench;

import io.osier.bench.causal.CausalCommand;
import io.osier.bench.client.BigSetCommand;
import io.osier.bench.client.ClientCommand;
import io.osier.bench.client.EchoCommand;
import io.osier.bench.client.RedisBaselineCommand;
import io.osier.bench.client.ReplicatedCommand;
import io.osier.bench.client.ScrapeCommand;
import io.osier.bench.client.TlsCommand;
import io.osier.bench.client.TraceCommand;
import io.osier.bench.client.TtlCommand;
import io.osier.bench.client.UsersCommand;
import io.osier.bench.client.WatchCommand;
import io.osier.bench.crash.CrashCommand;
import io.osier.bench.crash.RestartsCommand;
import io.osier.bench.crash.UpgradeCommand;
import io.osier.bench.experiment.DashboardCommand;
import io.osier.bench.experiment.IdleCommand;
import io.osier.bench.experiment.MembershipCommand;
import io.osier.bench.experiment.MemoryCommand;
import io.osier.bench.experiment.MicroCommand;
import io.osier.bench.experiment.MixedSlaCommand;
import io.osier.bench.experiment.PropagationCommand;
import io.osier.bench.experiment.ReplicasCommand;
import io.osier.bench.experiment.ShiftCommand;
import io.osier.bench.experiment.SizeCommand;
import io.osier.bench.experiment.SlaCommand;
import io.osier.bench.fleet.LoadCommand;
import io.osier.bench.fleet.WanCommand;
import io.osier.bench.growth.GrowthCommand;
import io.osier.bench.history.HistoryCommand;
import io.osier.bench.peers.PeerRoundCommand;
import io.osier.bench.peers.PeersCommand;
import io.osier.bench.samples.SocialCommand;
import io.osier.bench.samples.WalletCommand;
import io.osier.bench.smoke.SmokeCommand;
import io.osier.bench.soak.SoakCommand;
import io.osier.bench.start.StartCommand;
import io.osier.bench.storage.StorageCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Groups the measurements and the long tests. */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures, and tests at length; docs/BENCHMARKS.md tells what came out.",
    subcommands = {
      BigSetCommand.class,
      CausalCommand.class,
      ClientCommand.class,
      CrashCommand.class,
      RestartsCommand.class,
      DashboardCommand.class,
      MembershipCommand.class,
      EchoCommand.class,
      GrowthCommand.class,
      HistoryCommand.class,
      IdleCommand.class,
      LoadCommand.class,
      MemoryCommand.class,
      MicroCommand.class,
      MixedSlaCommand.class,
      PeersCommand.class,
      PeerRoundCommand.class,
      PropagationCommand.class,
      RedisBaselineCommand.class,
      ReplicasCommand.class,
      ReplicatedCommand.class,
      ScrapeCommand.class,
      TlsCommand.class,
      UsersCommand.class,
      TraceCommand.class,
      ShiftCommand.class,
      SizeCommand.class,
      SlaCommand.class,
      StartCommand.class,
      StorageCommand.class,
      TtlCommand.class,
      UpgradeCommand.class,
      WalletCommand.class,
      SocialCommand.class,
      SmokeCommand.class,
      SoakCommand.class,
      WanCommand.class,
      WatchCommand.class
    })
public final class BenchCommand implements Runnable {
  @Spec private CommandSpec spec;

  /** For picocli. */
  public BenchCommand() {}

  @Override
  public void run() {
    throw new ParameterException(
        spec.commandLine(), "which one of " + spec.subcommands().keySet() + "?");
  }
}
