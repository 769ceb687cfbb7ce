package io.osier.bench.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.osier.bench.systems.ScenarioException;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;

/** What cannot be is told before anything is started, with what would be right. */
final class RulesTest {
  static final List<String> NAMES = Scenario.NAMES;

  private static void check(String name, List<String> changes, boolean quick) {
    for (Scenario.Part one : Scenario.read(name, changes, quick).cases()) {
      List<Scenario.Part> variants = Scenario.variants(one.config());
      List<String> names = variants.stream().map(Scenario.Part::name).toList();
      variants.forEach(variant -> Rules.check(variant, names));
    }
  }

  @ParameterizedTest
  @FieldSource("NAMES")
  void scenario_quickOrNot_keepsTheRules(String name) {
    check(name, List.of(), false);
    check(name, List.of(), true);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // Of the wrong type.
        "causal | load=5                     | load must be a block { ... }, not 5",
        "causal | steps=5                    | steps must be a list [ ... ], not 5",
        "causal | load.keys=many             | load.keys must be a whole number from 1 to",
        "causal | load.keys=2.5              | load.keys must be a whole number from 1 to",
        "causal | load.keys=[1]              | load.keys must be a whole number from 1 to",
        "causal | load.audit=perhaps         | load.audit must be true or false",
        "causal | load.draw={ a = 1 }        | load.draw must be one of zipfian, uniform, turns",
        "causal | about=[1]                  | about must be a word or text",
        "causal | loads.x=5                  | loads.x must be a block",
        "causal | load.at=nowhere            | load.at is all, first or a list of names",
        // Absurd.
        "causal | load.keys=0                | load.keys must be a whole number from 1 to",
        "causal | load.keys=3000000000       | load.keys must be a whole number from 1 to",
        "causal | load.in-flight=0           | load.in-flight must be a whole number from 1 to",
        "causal | load.sessions=0            | load.sessions must be",
        "causal | load.bytes=-1              | load.bytes must be",
        "causal | seconds=-1                 | seconds must be a number from 0 to 86,400, not -1",
        "causal | rounds=0                   | rounds must be a whole number from 1 to 1,000",
        "causal | cluster.dcs=100            | cluster.dcs must be a whole number from 1 to 10",
        "causal | cluster.heap=lots          | cluster.heap is a size such as 512m",
        "causal | load.mix.get=-1            | load.mix.get must be from 0 to",
        "causal | load.mix={ get = 0 }, load.mix.increment=0 | a weight above 0",
        "causal | variants=[]                | variants must be one or more",
        "causal | variants=[{ name = a }, { name = a }] | each with a name of its own",
        "causal | steps=[{ seconds = -1 }]   | step.seconds must be a number from 0 to",
        // Of things that there are not.
        "causal | load.mix.nothing=1         | is one of add, add-next, assign,",
        "causal | load.fill=nothing          | is one of add, add-next, assign,",
        "causal | cluster.target=mongodb     | cluster.target is one of echo, hazelcast,",
        "causal | cluster.durability=maybe   | must be one of sync, async, none, memory",
        "causal | cluster.tls=maybe          | must be one of off, server, both",
        "causal | base=nobody                | base is one of causal, session, not nobody",
        "causal | load.at=[zz]               | a name in load.at is one of ap, eu, us, not zz",
        "causal | cluster.later=[zz]         | a name in cluster.later is one of ap2, au,",
        "causal | steps=[{ do = cut, dc = zz }] | a step's dc is one of ap, eu, us, not zz",
        "shift  | load.keyspace=none         | load.keyspace is one of k, not none",
        "watch  | cluster.target=hazelcast   | hazelcast is one of increment, not assign",
        // That do not go together.
        "causal | load.audit=true, load.mix.insert=1 | need a mix that updates by increment or by"
            + " add",
        "replicated | load.audit=true, load.keys=20000000, load.mix.get=1, load.elements=1000 |"
            + " times",
        "causal | load.watchers=5000         | load.watchers must be at most load.keys, 1000",
        "causal | load.hot=5, cluster.tls=both | datacenters that tell their figures",
        "causal | readers.path=metrics       | readers need cluster.admin = true",
        "causal | steps=[{ do = removed }]   | does expire must be before one that does removed",
        "ttl    | steps=[{ do = equal }]     | does equal needs datacenters",
        "peers  | load.threads=0             | load.threads must be 1 or more",
        "datacenters | load.rate=0           | load.rate must be 1 or more",
        "datacenters | variants=[{ name = a }] | needs one of cluster.keyspaces",
        "datacenters | cases=[{ name = a }], cluster.dcs=1 | cluster.dcs must be 2 or more",
        "causal-simulated | seconds=0.5      | seconds must be 1 or more",
        "memory | cases=[{ name = a }]       | heap-of-fill needs load.fill",
        "memory | cluster.target=echo, load.fill=get, cases=[{ name = a }] | heap-of-fill is of",
        "mixed-sla | load.watchers=1         | are for one load alone, not for 2"
      })
  void mistake_isRefusedWithWhatWouldBeRight(String name, String changes, String words) {
    assertThatThrownBy(() -> check(name, List.of(changes), false))
        .isInstanceOf(ScenarioException.class)
        .hasMessageContaining(words)
        .satisfies(e -> assertThat(e.getMessage()).doesNotContain("\n"));
  }
}
