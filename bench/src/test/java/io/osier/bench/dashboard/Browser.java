package io.osier.bench.dashboard;

import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.osier.testing.Patience;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;

/** An installed Chromium without a screen; notes whatever a page complains of. One thread's. */
final class Browser implements AutoCloseable {
  private static final List<String> PLACES =
      List.of(
          "/usr/bin/chromium",
          "/usr/bin/chromium-browser",
          "/usr/bin/google-chrome",
          "/usr/bin/google-chrome-stable");

  /** What a page is told while it is open; it comes again by itself where that is broken off. */
  private static final Pattern STREAMS = Pattern.compile("/dashboard/(events|history)");

  private final Playwright playwright;
  private final com.microsoft.playwright.Browser browser;
  private final List<String> complaints = new CopyOnWriteArrayList<>();

  Browser(Path program) {
    playwright =
        Playwright.create(
            new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
    try {
      browser =
          playwright
              .chromium()
              .launch(
                  new BrowserType.LaunchOptions()
                      .setExecutablePath(program)
                      .setArgs(List.of("--no-sandbox")));
    } catch (RuntimeException e) {
      playwright.close();
      throw e;
    }
  }

  /** Where a browser is; the environment's CHROMIUM says it, and nothing else is tried then. */
  static Optional<Path> installed() {
    String said = System.getenv("CHROMIUM");
    return (said == null ? PLACES : List.of(said))
        .stream().map(Path::of).filter(Files::isExecutable).findFirst();
  }

  /**
   * A page of a person of her own, with nothing stored.
   *
   * @param motion whether she wants no motion: drawing it takes as long as all else that a page
   *     does
   */
  Page page(int width, int height, ColorScheme scheme, ReducedMotion motion) {
    BrowserContext context =
        browser.newContext(
            new com.microsoft.playwright.Browser.NewContextOptions()
                .setViewportSize(width, height)
                .setColorScheme(scheme)
                .setReducedMotion(motion));
    context.setDefaultTimeout(Patience.MILLIS);
    // Chromium breaks off what it fetches when the machine's network changes, as each container
    // that starts beside this test does; so Playwright fetches the page's files in its place.
    context.route(
        url -> !STREAMS.matcher(url).find(),
        route -> route.fulfill(new Route.FulfillOptions().setResponse(route.fetch())));
    Page page = context.newPage();
    page.onConsoleMessage(
        m -> {
          if (m.type().equals("error") || m.type().equals("warning")) {
            complaints.add(m.type() + ": " + m.text());
          }
        });
    page.onPageError(complaints::add);
    page.onRequestFailed(r -> complaints.add("failed: " + r.url() + " " + r.failure()));
    page.onRequest(
        r -> {
          if (!Objects.equals(URI.create(r.url()).getHost(), "127.0.0.1")
              && !r.url().startsWith("data:")) {
            complaints.add("asks another host: " + r.url());
          }
        });
    return page;
  }

  /** Ends what everybody looks at. */
  void closePages() {
    List.copyOf(browser.contexts()).forEach(BrowserContext::close);
  }

  /** What pages have complained of so far; a page that is left breaks its stream off. */
  List<String> complaints() {
    return complaints.stream()
        .filter(c -> !STREAMS.matcher(c).find() && !c.contains("ERR_NETWORK_CHANGED"))
        .toList();
  }

  /** Forgets the complaints so far: they were provoked. */
  void forgive() {
    complaints.clear();
  }

  @Override
  public void close() {
    browser.close();
    playwright.close();
  }
}
