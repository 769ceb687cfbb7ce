package io.osier.bench.dashboard;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.assertions.LocatorAssertions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import io.osier.bench.cluster.ClusterSettings;
import io.osier.bench.cluster.CounterLoad;
import io.osier.bench.cluster.Jvm;
import io.osier.bench.cluster.LocalCluster;
import io.osier.proxy.Keyspace;
import io.osier.proxy.OsierClient;
import io.osier.testing.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;

/**
 * A person's view of three datacenters: a real browser, real processes, emulated links. It makes
 * the {@link Pictures} of docs/.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
final class DashboardBrowserTest {
  private static final LocatorAssertions.IsVisibleOptions SOON =
      new LocatorAssertions.IsVisibleOptions().setTimeout(Patience.MILLIS);

  private static final String OVERPRINT = script("overprint.js");

  private Browser browser;
  private LocalCluster cluster;
  private CounterLoad load;
  private OsierClient client;

  @BeforeAll
  void start(@TempDir Path directory) {
    Optional<Path> program = Browser.installed();
    if (program.isEmpty()) {
      System.err.println(
          """

          ==================================================================================
          SKIPPED: DashboardBrowserTest. No browser is installed (apt-get install chromium),
          so nobody has looked at the dashboard: that it opens, lives, shows a cut link and
          a hot object's switch, takes hostile keys, and can be read.
          ==================================================================================
          """);
      Assumptions.abort("no browser is installed");
    }
    PlaywrightAssertions.setDefaultAssertionTimeout(Patience.MILLIS);
    browser = new Browser(program.get());
    cluster =
        new ClusterSettings(
                directory,
                "    shop { sla = 2s, partitions = 1 }\n    likes { sla = 1s, partitions = 1 }\n")
            .store("durability = none, cache = 16MiB")
            .heap("-Xmx192m")
            .javaOptions(Jvm.BRIEF)
            .admin()
            .start();
    cluster.awaitReady(Duration.ofMinutes(10));
    load = new CounterLoad(cluster, "shop", 240, 1);
    client = cluster.only("eu");
  }

  @AfterAll
  void stop() {
    if (load != null) {
      load.stop();
      load.close();
    }
    for (AutoCloseable one : new AutoCloseable[] {client, cluster, browser}) {
      try {
        if (one != null) {
          one.close();
        }
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @AfterEach
  void noPageHasComplained() {
    browser.closePages();
    assertThat(browser.complaints()).isEmpty();
  }

  private Page open(String dc, int width, int height, ColorScheme scheme) {
    return open(dc, width, height, scheme, ReducedMotion.REDUCE);
  }

  private Page open(String dc, int width, int height, ColorScheme scheme, ReducedMotion motion) {
    Page page = browser.page(width, height, scheme, motion);
    page.navigate(cluster.dashboard(dc));
    assertThat(page.locator("#live")).hasAttribute("data-state", "live");
    return page;
  }

  /** No label of the map stands on another one, and none leaves the screen. */
  private static void nothingIsOverprinted(Page page) {
    assertThat(page.evaluate(OVERPRINT)).isEqualTo(List.of());
  }

  private static String script(String name) {
    try {
      return Files.readString(Path.of("src/test/resources/io/osier/bench/dashboard/" + name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Locator label(Page page, String from, String to) {
    return page.locator(".labels text[data-from=" + from + "][data-to=" + to + "]");
  }

  @Test
  @Order(1)
  void opens_lives_andShowsAllDatacenters() {
    Page page = open("eu", 1440, 900, ColorScheme.LIGHT, ReducedMotion.NO_PREFERENCE);
    assertThat(page).hasTitle("Osier · eu");
    assertThat(page.locator(".node")).hasCount(3);
    for (String dc : cluster.dcs()) {
      assertThat(page.locator(".node[data-dc=" + dc + "]")).hasAttribute("data-state", "ready");
    }
    assertThat(page.locator(".link[data-state=up]")).hasCount(6);
    // A busy machine may be late, and the page then says so: what it says is no matter of this
    // test.
    assertThat(page.locator("#health-title")).not().containsText("Waiting for the first second");
    assertThat(page.locator("#updates")).not().hasText("0");
    assertThat(page.locator("#bytes")).containsText("B/s");
    assertThat(page.locator("#within")).containsText("%");
    // It lives: a second later the chart is another one.
    Locator chart = page.locator("#updates-chart path");
    String before = chart.getAttribute("d");
    assertThat(chart).not().hasAttribute("d", before);
    page.locator("details summary").click();
    assertThat(page.locator("#links tbody tr")).hasCount(6);
    page.locator("details summary").click();
    assertThat(page.locator("#keyspaces tbody tr[data-keyspace=shop]")).containsText("ap, eu, us");
    assertThat(page.locator("#delta-sub")).containsText("set for each keyspace");
    page.locator("#keyspace").selectOption("shop");
    assertThat(page.locator("#delta-sub")).containsText("δ = 2\u202fs");
    page.locator("#keyspace").selectOption("");
    Pictures.watch(page, 60);
    nothingIsOverprinted(page);
    Pictures.take(page, "light");
  }

  @Test
  @Order(2)
  void objectThatBecomesHot_movesToStates_beforeTheEyes() {
    Page page = open("us", 1440, 900, ColorScheme.LIGHT); // another one than where it happens
    page.locator("#keyspace").selectOption("likes");
    Keyspace likes = client.session().keyspace("likes");
    Locator dot = page.locator("[data-key='likes:42'] .dot[data-dc=eu]");
    // So rarely that two updates seldom fall into one window: nothing is gained by joining them.
    try (Repeated warm = new Repeated(2_500, () -> likes.counter("likes:42").incrementAsync(1))) {
      assertThat(dot).hasAttribute("data-mode", "op");
      warm.check();
    }
    try (Repeated heat = new Repeated(25, () -> likes.counter("likes:42").incrementAsync(1))) {
      assertThat(dot).hasAttribute("data-mode", "state");
      assertThat(page.locator("#switches li[data-key='likes:42'][data-mode=state]"))
          .isVisible(SOON);
      assertThat(page.locator("[data-key='likes:42'] .sr")).containsText("eu: states");
      heat.check();
    }
  }

  /** Keys are users' bytes. */
  @Test
  @Order(3)
  void hostileKeys_areTexts() {
    List<String> keys =
        List.of(
            "<script>window.stolen=1</script>",
            "<img src=x onerror='window.stolen=1'>",
            "\"><svg onload=window.stolen=1>",
            "a\u202egnp.exe");
    Page page = open("eu", 1440, 900, ColorScheme.LIGHT);
    Keyspace likes = client.session().keyspace("likes");
    try (Repeated heat =
        new Repeated(25, () -> keys.forEach(k -> likes.counter(k).incrementAsync(1)))) {
      for (String key : keys.subList(0, 3)) {
        assertThat(page.locator(".hot-row bdi", new Page.LocatorOptions().setHasText(key)))
            .isVisible(SOON);
      }
      assertThat(
              page.locator(".hot-row bdi")
                  .filter(new Locator.FilterOptions().setHasText("a\\u202egnp.exe")))
          .isVisible(SOON);
      heat.check();
    }
    assertThat(page.evaluate("() => window.stolen ?? 'nothing'")).isEqualTo("nothing");
    assertThat(page.locator("main img, main script")).hasCount(0);
  }

  @Test
  @Order(4)
  void cutLink_isShown_withTheCommand_andTheFarSideByWayOfTheThird() {
    Page page = open("eu", 1440, 900, ColorScheme.DARK);
    cluster.links().cut("eu", "us");
    try {
      assertThat(page.locator(".link[data-from=eu][data-to=us]")).hasAttribute("data-state", "cut");
      assertThat(page.locator(".link[data-from=us][data-to=eu]")).hasAttribute("data-state", "cut");
      assertThat(page.locator("#health")).hasAttribute("data-level", "error");
      Locator problem =
          page.locator("#problems li")
              .filter(new Locator.FilterOptions().setHasText("The link between eu and us is cut"));
      assertThat(problem).isVisible(SOON);
      assertThat(problem.locator("code"))
          .hasText("osier cli --connect " + cluster.endpoint("eu") + " why us");
      assertThat(page.locator(".node[data-dc=us]")).hasAttribute("data-state", "ready");
      // What waits is late from the moment it is: nobody has to come back first.
      assertThat(page.locator("#within-sub")).containsText("overdue");
      assertThat(page.locator("#within")).hasAttribute("data-late", "true");
      assertThat(label(page, "eu", "us")).containsText(Pattern.compile("cut · stale [1-9]"));
      assertThat(label(page, "eu", "us")).containsText("wait");
      Pictures.watch(page, 25);
      nothingIsOverprinted(page);
      Pictures.take(page, "dark");
    } finally {
      cluster.links().heal("eu", "us");
    }
    assertThat(page.locator(".link[data-state=up]")).hasCount(6);
  }

  @Test
  @Order(5)
  void wideScreen_showsMore_notLarger() {
    Page page = open("eu", 2560, 1440, ColorScheme.DARK);
    assertThat(page.locator("#hour figure")).hasCount(10);
    assertThat(page.locator("#links tbody tr")).hasCount(6);
    Pictures.watch(page, 20);
    nothingIsOverprinted(page);
    Pictures.take(page, "wide");
    Object size = page.evaluate("() => parseFloat(getComputedStyle(document.body).fontSize)");
    assertThat(((Number) size).doubleValue()).isLessThanOrEqualTo(16);
    // All at once, when nothing is late any more that a busy machine has delayed: that is told,
    // too.
    page.waitForFunction("() => document.documentElement.scrollHeight <= innerHeight");
  }

  @Test
  @Order(6)
  void onAPhone_nothingIsWiderThanTheScreen() {
    Page page = open("ap", 390, 844, ColorScheme.LIGHT);
    assertThat(page.locator(".node")).hasCount(3);
    assertThat(page.locator(".hot-row bdi").first()).isVisible(SOON);
    assertThat(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))
        .isEqualTo(true);
    Pictures.watch(page, 40);
    nothingIsOverprinted(page);
    Pictures.take(page, "phone");
    page.setViewportSize(3840, 2160); // a wall
    assertThat(page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"))
        .isEqualTo(true);
  }

  @Test
  @Order(7)
  void keyboardAndThemes_work_andNothingIsNameless() {
    Page page = open("eu", 1280, 800, ColorScheme.LIGHT);
    page.keyboard().press("k");
    assertThat(page.locator("#keyspace")).hasValue("likes");
    page.keyboard().press("d");
    assertThat(page.locator("#scope")).hasValue("ap");
    assertThat(page.locator(".node[data-dc=ap]")).hasAttribute("aria-pressed", "true");
    page.locator(".node[data-dc=us]").focus();
    page.keyboard().press("Enter");
    assertThat(page.locator("#scope")).hasValue("us");
    page.keyboard().press("p");
    assertThat(page.locator("#live")).hasAttribute("data-state", "paused");
    page.keyboard().press("p");
    page.keyboard().press("?");
    assertThat(page.locator("#about")).isVisible();
    page.keyboard().press("Escape");
    assertThat(page.locator("#about")).isHidden();
    page.keyboard().press("t");
    page.keyboard().press("t");
    assertThat(page.locator("html")).hasAttribute("data-theme", "dark");
    page.reload();
    assertThat(page.locator("html")).hasAttribute("data-theme", "dark");
    assertThat(
            page.evaluate(
                "() => [...document.querySelectorAll('button, select, [role=button], [role=img]')]"
                    + ".filter(e => !(e.getAttribute('aria-label') || e.textContent.trim()"
                    + " || e.closest('label'))).map(e => e.outerHTML)"))
        .isEqualTo(List.of());
  }

  @Test
  @Order(8)
  void texts_haveContrast_byDayAndByNight() {
    String script = script("contrast.js");
    for (ColorScheme scheme : List.of(ColorScheme.LIGHT, ColorScheme.DARK)) {
      Page page = open("eu", 1440, 900, scheme);
      assertThat(page.locator(".hot-row bdi").first()).isVisible(SOON);
      assertThat(page.evaluate(script)).as("%s", scheme).isEqualTo(List.of());
    }
  }

  /** A datacenter that restarts, a network that changes: the page does not stay empty for ever. */
  @Test
  @Order(9)
  void partThatCannotBeFetched_pageIsLoadedAnew() {
    Page page = browser.page(1440, 900, ColorScheme.LIGHT, ReducedMotion.REDUCE);
    page.route("**/hot.js", Route::abort, new Page.RouteOptions().setTimes(1));
    page.navigate(cluster.dashboard("eu"));
    assertThat(page.locator("#live")).hasAttribute("data-state", "live");
    assertThat(browser.complaints()).anyMatch(c -> c.contains("hot.js"));
    browser.forgive();
  }

  /** What was before the page was opened is there by now, and can be pointed at. */
  @Test
  @Order(10)
  void lastHour_isThere_whoeverLookedMeanwhile() {
    Page page = open("us", 1440, 900, ColorScheme.LIGHT);
    Locator charts = page.locator("#hour figure");
    assertThat(charts).hasCount(10);
    assertThat(charts.filter(new Locator.FilterOptions().setHasText("us → ap"))).hasCount(1);
    Locator updates = charts.first().locator("path").first();
    assertThat(updates).hasAttribute("d", Pattern.compile("M.*L.*L.*"));
    assertThat(charts.first().locator("b").first()).containsText("/s");
    assertThat(page.locator("#hour-at")).containsText("now");
    page.locator("#hour-time").press("Home");
    assertThat(page.locator("#hour-at")).containsText("at, ");
    assertThat(page.locator("#hour .cursor").first()).hasAttribute("data-shown", "true");
  }

  /** Who is gone is named with its own address, and what it lacks counts as late. */
  @Test
  @Order(11)
  void outage_isShown_withWhatIsOverdue_andTheAddressOfWhoIsGone() {
    Page page = open("eu", 1440, 900, ColorScheme.LIGHT);
    assertThat(page.locator(".link[data-state=up]")).hasCount(6);
    Page gone = open("ap", 1440, 900, ColorScheme.LIGHT);
    assertThat(gone.locator("#updates")).containsText(Pattern.compile("[0-9]"));
    cluster.kill("ap");
    try {
      Page phone = open("us", 390, 844, ColorScheme.DARK); // that never heard ap
      for (Page one : List.of(page, phone)) {
        Locator problem =
            one.locator("#problems li")
                .filter(new Locator.FilterOptions().setHasText("No word from ap"));
        assertThat(problem).isVisible(SOON);
        assertThat(problem.locator("code"))
            .hasText("osier cli --connect " + cluster.endpoint("ap") + " why");
        assertThat(problem).containsText("updates wait for it");
        assertThat(one.locator("#problems")).not().containsText("is cut"); // is the same problem
        assertThat(one.locator("#within-sub")).containsText("overdue");
        assertThat(one.locator("#within")).hasAttribute("data-late", "true");
        assertThat(one.locator(".node[data-dc=ap]")).hasAttribute("data-state", "silent");
        assertThat(label(one, "eu", "ap")).containsText(Pattern.compile("cut · stale [1-9]"));
        assertThat(label(one, "ap", "eu")).containsText("unheard for");
        Pictures.watch(one, 15);
        nothingIsOverprinted(one);
      }
      // Whoever looked at the datacenter that is gone is told so, and not that all is well.
      assertThat(gone.locator("#health-title")).hasText("No connection to ap");
      assertThat(gone.locator("#problems")).containsText("everything below is from then");
      gone.close();
      assertThat(browser.complaints()).allMatch(c -> c.contains("ERR_CONNECTION_REFUSED"));
      browser.forgive();
      Pictures.take(page, "outage");
      Pictures.take(phone, "outage-phone");
    } finally {
      cluster.start("ap");
      cluster.awaitReady("ap", Duration.ofMinutes(10));
    }
    assertThat(page.locator(".link[data-state=up]")).hasCount(6);
  }
}
