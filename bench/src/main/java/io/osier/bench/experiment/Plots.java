package io.osier.bench.experiment;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.lines.SeriesLines;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Draws results as PNG files in one folder. */
public final class Plots {
  /** The end of an alternative's name whose line is dashed: it did not run on this machine. */
  static final String SIMULATED = ", simulated";

  private static final int WIDTH = 900;
  private static final int HEIGHT = 520;
  private static final String NUMBERS = "#,##0.###";

  private final Results results;
  private final Path directory;

  Plots(Results results, Path directory) {
    // Without it AWT looks for a display.
    System.setProperty("java.awt.headless", "true");
    this.results = results;
    this.directory = directory;
  }

  /** A group of bars for each workload, a bar for each alternative. */
  public void bars(String file, String title, String metric) throws IOException {
    bars(file, title, metric, List.copyOf(results.workloads()));
  }

  /** As the other one, of some of the workloads. */
  public void bars(String file, String title, String metric, Predicate<String> wanted)
      throws IOException {
    bars(file, title, metric, results.workloads().stream().filter(wanted).toList());
  }

  /**
   * As the other one, of a part of the workloads, for those whose figures are of different sizes.
   * An alternative that none of them was measured with is left out.
   */
  public void bars(String file, String title, String metric, List<String> of) throws IOException {
    List<String> workloads = of.stream().filter(results.workloads()::contains).toList();
    if (workloads.isEmpty()) {
      return;
    }
    CategoryChart chart =
        new CategoryChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle("")
            .yAxisTitle(metric)
            .build();
    chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
    chart.getStyler().setChartBackgroundColor(java.awt.Color.WHITE);
    chart.getStyler().setYAxisDecimalPattern(NUMBERS);
    for (String alternative : results.alternatives()) {
      if (workloads.stream().allMatch(w -> results.rounds(w, alternative, metric).isEmpty())) {
        continue;
      }
      chart.addSeries(
          alternative,
          workloads,
          workloads.stream().map(w -> results.median(w, alternative, metric)).toList());
    }
    save(chart, file);
  }

  /**
   * A line for each alternative over workloads that are points of one axis: each workload's name
   * begins with its number.
   *
   * @param logX whether the axis is logarithmic
   */
  public void lines(String file, String title, String axis, String metric, boolean logX)
      throws IOException {
    lines(file, title, axis, metric, logX, workload -> true);
  }

  /**
   * As the other one, of a part of the workloads.
   *
   * @param wanted whether a workload is a point of this chart
   */
  public void lines(
      String file, String title, String axis, String metric, boolean logX, Predicate<String> wanted)
      throws IOException {
    XYChart chart = xy(title, axis, metric);
    chart.getStyler().setXAxisLogarithmic(logX);
    for (String alternative : results.alternatives()) {
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (String workload : results.workloads()) {
        if (wanted.test(workload) && !results.rounds(workload, alternative, metric).isEmpty()) {
          x.add(Double.parseDouble(workload.split(" ")[0].replace(",", "")));
          y.add(results.median(workload, alternative, metric));
        }
      }
      if (!x.isEmpty()) {
        XYSeries line = chart.addSeries(alternative, x, y);
        if (alternative.endsWith(SIMULATED)) {
          line.setLineStyle(SeriesLines.DASH_DASH);
        }
      }
    }
    save(chart, file);
  }

  /** The curves of a chart. */
  public void curves(String file, String chartName, String xAxis, String yAxis) throws IOException {
    XYChart chart = xy(chartName, xAxis, yAxis);
    for (Map.Entry<String, List<double[]>> curve : results.curves(chartName).entrySet()) {
      chart
          .addSeries(
              curve.getKey(),
              curve.getValue().stream().mapToDouble(p -> p[0]).toArray(),
              curve.getValue().stream().mapToDouble(p -> p[1]).toArray())
          .setMarker(SeriesMarkers.NONE);
    }
    save(chart, file);
  }

  private static XYChart xy(String title, String xAxis, String yAxis) {
    XYChart chart =
        new XYChartBuilder()
            .width(WIDTH)
            .height(HEIGHT)
            .title(title)
            .xAxisTitle(xAxis)
            .yAxisTitle(yAxis)
            .build();
    chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
    chart.getStyler().setChartBackgroundColor(java.awt.Color.WHITE);
    chart.getStyler().setYAxisDecimalPattern(NUMBERS);
    chart.getStyler().setYAxisMin(0.0);
    chart.getStyler().setLocale(Locale.ROOT);
    return chart;
  }

  private void save(Chart<?, ?> chart, String file) throws IOException {
    if (chart.getSeriesMap().isEmpty()) {
      return;
    }
    Path to = directory.resolve(file + ".png");
    BitmapEncoder.saveBitmap(chart, to.toString(), BitmapFormat.PNG);
    System.out.println("plot " + to);
  }
}
