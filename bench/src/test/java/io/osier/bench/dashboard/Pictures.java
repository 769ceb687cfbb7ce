package io.osier.bench.dashboard;

import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ReducedMotion;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Where DASHBOARD_PICTURES names a directory, the pictures of docs/ are made there. */
final class Pictures {
  private static final @Nullable String DIRECTORY = System.getenv("DASHBOARD_PICTURES");

  private Pictures() {}

  static void take(Page page, String name) {
    if (DIRECTORY != null) {
      page.emulateMedia(new Page.EmulateMediaOptions().setReducedMotion(ReducedMotion.REDUCE));
      page.screenshot(
          new Page.ScreenshotOptions()
              .setPath(Path.of(DIRECTORY, "dashboard-" + name + ".png"))
              .setFullPage(true));
    }
  }

  /** Waits so many of the page's own seconds: until it has drawn so many pictures. */
  static void watch(Page page, int seconds) {
    if (DIRECTORY != null) {
      page.waitForTimeout(seconds * 1_000);
    }
  }
}
