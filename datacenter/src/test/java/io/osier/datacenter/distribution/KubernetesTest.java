package io.osier.datacenter.distribution;

import static org.assertj.core.api.Assertions.assertThat;

import io.osier.datacenter.config.ConfigReader;
import io.osier.datacenter.config.DatacenterConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The manifests of the distribution: what they name is there, and kubectl can read them. */
final class KubernetesTest {
  private static final Path FOLDER = Path.of("src/dist/share/kubernetes");
  private static final Path SERVER =
      Path.of("src/main/java/io/osier/datacenter/admin/AdminServer.java");
  private static final Pattern PROBE = Pattern.compile("httpGet: \\{path: (/\\w+), port: admin,");
  private static final Pattern FILE = Pattern.compile("\"(/etc/osier/\\w+)/[\\w.]+\"");

  /** As the image sets it. */
  private static final Map<String, String> IMAGE =
      Map.of(
          "OSIER_LISTEN_HOST", "0.0.0.0",
          "OSIER_ADMIN_ENABLED", "true",
          "OSIER_STORE_DIR", "/var/lib/osier");

  @TempDir private Path dir;

  private static String text(String file) throws IOException {
    return Files.readString(FOLDER.resolve(file));
  }

  @Test
  void configuration_isOneThatADatacenterTakes_andItsFilesAreMounted() throws IOException {
    String text = text("eu/osier.conf");
    DatacenterConfig config = ConfigReader.read("osier.conf", text, IMAGE);
    assertThat(config.dc()).isEqualTo("eu");
    String pod = text("datacenter/statefulset.yaml");
    List<String> folders =
        FILE.matcher(text).results().map(found -> found.group(1)).distinct().toList();
    assertThat(folders).containsExactly("/etc/osier/tls", "/etc/osier/users");
    assertThat(folders)
        .allSatisfy(folder -> assertThat(pod).contains("mountPath: " + folder + ","));
    assertThat(pod)
        .contains("{name: clients, containerPort: " + config.clientPort() + "}")
        .contains("{name: peers, containerPort: " + config.peerPort() + "}")
        .contains("mountPath: " + IMAGE.get("OSIER_STORE_DIR") + "}");
  }

  @Test
  void probes_askForPagesThatThereAre() throws IOException {
    String server = Files.readString(SERVER);
    Matcher probe = PROBE.matcher(text("datacenter/statefulset.yaml"));
    int probes = 0;
    while (probe.find()) {
      assertThat(server).contains("paths.put(\"" + probe.group(1) + "\"");
      probes++;
    }
    assertThat(probes).isEqualTo(3);
  }

  /** Where kubectl is installed; it needs no cluster for it. */
  @Test
  void kubectl_buildsTheExample() throws Exception {
    Path out = dir.resolve("built.yaml");
    Process kubectl;
    try {
      kubectl =
          new ProcessBuilder("kubectl", "kustomize", FOLDER.resolve("eu").toString())
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .start();
    } catch (IOException e) {
      System.out.println("KubernetesTest: the manifests were not built: there is no kubectl");
      Assumptions.abort("there is no kubectl");
      return;
    }
    boolean ended = kubectl.waitFor(2, TimeUnit.MINUTES);
    kubectl.destroyForcibly();
    String built = Files.readString(out);
    assertThat(ended && kubectl.exitValue() == 0).as(built).isTrue();
    assertThat(built.split("\n---\n"))
        .extracting(part -> part.lines().filter(l -> l.startsWith("kind: ")).findFirst().orElse(""))
        .containsExactlyInAnyOrder(
            "kind: ConfigMap", "kind: Service", "kind: Service", "kind: StatefulSet");
    Matcher name = Pattern.compile("name: (osier-config-\\w+)\n").matcher(built);
    assertThat(name.find()).as("the ConfigMap's name").isTrue();
    assertThat(built.split(name.group(1), -1)).as("it is named, and used").hasSize(3);
    assertThat(built).contains("image: registry.example/osier:latest");
  }
}
