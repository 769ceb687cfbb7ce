package io.osier.bench.storage;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.osier.datacenter.cli.Table;
import java.nio.file.Path;

/** One part of the measurements. */
interface Part {
  /**
   * How much is measured.
   *
   * @param dir for the part alone; need not be there
   * @param quick a look, not a result
   * @param inFlight requests under way
   */
  record Scale(Path dir, boolean quick, int inFlight) {
    /** How long each run takes. */
    double seconds() {
      return quick ? 2 : 8;
    }
  }

  /** What is printed. */
  record Result(String title, Table table) {}

  /** Measures, and adds the figures to the results. */
  Result measure(Scale scale, ArrayNode json) throws Exception;
}
