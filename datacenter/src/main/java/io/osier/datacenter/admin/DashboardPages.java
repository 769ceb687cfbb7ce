package io.osier.datacenter.admin;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * Serves the dashboard's files, which are resources of this module: no build step makes them, and
 * they load nothing from other hosts.
 */
final class DashboardPages {
  static final String PATH = "/dashboard";

  /** Content types by the file name's extension. */
  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private static final String[] FILES = {
    "osier.css",
    "osier.svg",
    "start.js",
    "main.js",
    "model.js",
    "format.js",
    "dom.js",
    "charts.js",
    "history.js",
    "map.js",
    "hot.js",
    "visibility.js"
  };

  private DashboardPages() {}

  /** Adds the dashboard's page, files and event stream to the paths that an endpoint serves. */
  static void addTo(
      Map<String, Supplier<CompletableFuture<HttpEndpoint.Answer>>> paths, Dashboard dashboard) {
    HttpEndpoint.Answer page = read("index.html");
    paths.put("/", () -> CompletableFuture.completedFuture(page));
    paths.put(PATH, () -> CompletableFuture.completedFuture(page));
    for (String file : FILES) {
      HttpEndpoint.Answer answer = read(file);
      paths.put(PATH + "/" + file, () -> CompletableFuture.completedFuture(answer));
    }
    paths.put(PATH + "/events", () -> CompletableFuture.completedFuture(events(dashboard)));
  }

  private static HttpEndpoint.Answer events(Dashboard dashboard) {
    return dashboard.isFull()
        ? new HttpEndpoint.Answer(
            503, Dashboard.VIEWERS_MAX + " look at this dashboard already, which is the limit\n")
        : HttpEndpoint.Answer.events(dashboard::join);
  }

  private static HttpEndpoint.Answer read(String file) {
    try (InputStream in = DashboardPages.class.getResourceAsStream("/io/osier/dashboard/" + file)) {
      if (in == null) {
        throw new IllegalStateException("the dashboard's " + file + " is missing in this build");
      }
      String type =
          requireNonNull(TYPES.get(file.substring(file.lastIndexOf('.') + 1)), "a file's type");
      return new HttpEndpoint.Answer(200, type, in.readAllBytes(), Optional.empty());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
